#ifndef POLYTILE_TESTS_SUPPORT_SHELL_H
#define POLYTILE_TESTS_SUPPORT_SHELL_H

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

/* Runs shell commands in a directory of their own, which is removed with the object. */
class Shell {
  public:
    struct Result {
        int exit_code;
        std::string out, err;
    };

    Shell() {
        char name[] = "/tmp/polytile-test-XXXXXX";
        directory_ = mkdtemp(name) == nullptr ? "." : name;
    }
    Shell(const Shell &) = delete;
    ~Shell() {
        if (directory_ != ".")
            (void)!std::system(("rm -r '" + directory_ + "'").c_str());
    }

    Result run(const std::string &command) const {
        int status = std::system(
            ("cd '" + directory_ + "' && { " + command + "; } >stdout 2>stderr").c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("stdout"), read("stderr")};
    }

    void write(const std::string &file, const std::string &bytes) const {
        std::ofstream(directory_ + "/" + file, std::ios::binary) << bytes;
    }

    std::string read(const std::string &file) const {
        std::ifstream stream(directory_ + "/" + file);
        std::stringstream text;
        text << stream.rdbuf();
        return text.str();
    }

  private:
    std::string directory_;
};

#endif
