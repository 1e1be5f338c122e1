#ifndef POLYTILE_TESTS_SUPPORT_XML_H
#define POLYTILE_TESTS_SUPPORT_XML_H

#include <string>
#include <vector>

/* What is wrong with an XML text, "" if nothing: tags nest, attributes are quoted, and every &
 * begins an entity. Enough for what the library writes, which has no comments and no CDATA. */
inline std::string xml_error(const std::string &xml) {
    std::vector<std::string> open;
    int n_roots = 0;
    for (size_t at = 0; at < xml.size();) {
        unsigned char c = (unsigned char)xml[at];
        if ((c < ' ' && c != '\n') || c > '~')
            return "a character that is no printable ASCII at " + std::to_string(at);
        if (c == '&') {
            size_t end = xml.find(';', at);
            if (end == std::string::npos || end - at > 6)
                return "a bare & at " + std::to_string(at);
        }
        if (c != '<') {
            at++;
            continue;
        }
        size_t end = at + 1;
        for (bool quoted = false; end < xml.size() && (quoted || xml[end] != '>'); end++) {
            quoted ^= xml[end] == '"';
            if (xml[end] == '<')
                return "a < inside a tag at " + std::to_string(end);
        }
        if (end >= xml.size())
            return "an open tag at " + std::to_string(at);
        std::string tag = xml.substr(at + 1, end - at - 1);
        std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" \n", 1) - (tag[0] == '/'));
        if (tag[0] == '/') {
            if (open.empty() || open.back() != name)
                return "</" + name + "> closes nothing at " + std::to_string(at);
            open.pop_back();
        } else if (tag[0] != '?') {
            n_roots += open.empty();
            if (tag.back() != '/')
                open.push_back(name);
        }
        at = end + 1;
    }
    if (!open.empty())
        return open.back() + " stays open";
    return n_roots == 1 ? "" : "there are " + std::to_string(n_roots) + " roots";
}

#endif
