#ifndef POLYTILE_TESTS_SUPPORT_ENVIRONMENT_H
#define POLYTILE_TESTS_SUPPORT_ENVIRONMENT_H

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

/** Environment variables for a while; without a value they are unset. */
class Environment {
  public:
    ~Environment() {
        for (const auto &[name, value] : before_)
            put(name, value);
    }
    void set(const std::string &name, const char *value) {
        const char *was = std::getenv(name.c_str());
        before_.insert({name, {was != nullptr, was == nullptr ? "" : was}});
        put(name, {value != nullptr, value == nullptr ? "" : value});
    }

  private:
    using Value = std::pair<bool, std::string>;
    static void put(const std::string &name, const Value &value) {
        value.first ? setenv(name.c_str(), value.second.c_str(), 1) : unsetenv(name.c_str());
    }
    std::map<std::string, Value> before_;
};

#endif
