extern "C" {
#include "graph/dot/dot.h"
}

#include <gtest/gtest.h>
#include <polytile/context.h>

#include <memory>
#include <string>

namespace {

using Dot = std::unique_ptr<pti_dot, void (*)(pti_dot *)>;

class DotText : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    Dot parse(const std::string &text) {
        pti_dot *dot = nullptr;
        status = pti_dot_parse(ctx, "text", text.c_str(), &dot);
        EXPECT_EQ(status == POLYTILE_OK, dot != nullptr);
        return {dot, pti_dot_free};
    }

    /** Nodes and edges with their attributes: "a[x=1] b; a>b[y=2]". */
    std::string read(const std::string &text) {
        const Dot dot = parse(text);
        if (dot == nullptr)
            return polytile_last_error(ctx);
        std::string shown;
        for (int64_t n = 0; n < dot->n_nodes; n++)
            shown += (n == 0 ? "" : " ") + std::string(dot->node[n].name) +
                     attributes(dot->node[n].attributes);
        for (int64_t e = 0; e < dot->n_edges; e++)
            shown += (e == 0 ? "; " : " ") + std::string(dot->node[dot->edge[e].from].name) + ">" +
                     dot->node[dot->edge[e].to].name + attributes(dot->edge[e].attributes);
        return shown;
    }

    static std::string attributes(const pti_dot_attributes &list) {
        std::string shown;
        for (int64_t k = 0; k < list.n; k++)
            shown += (k == 0 ? "[" : ",") + std::string(list.attribute[k].name) + "=" +
                     list.attribute[k].value;
        return shown.empty() ? shown : shown + "]";
    }

    polytile_context *ctx = nullptr;
    polytile_status status = POLYTILE_OK;
};

TEST_F(DotText, HasNodesInTheOrderInWhichTheyAreNamed) {
    const struct {
        const char *text;
        const char *read;
    } cases[] = {
        {"digraph{}", ""},
        {"digraph g { a; b }", "a b"},
        {"strict digraph \"a name\" { a b c; }", "a b c"},
        {"digraph { a -> b; b -> c [x=1] }", "a b c; a>b b>c[x=1]"},
        {"digraph { a -> b -> c [x=1] }", "a b c; a>b[x=1] b>c[x=1]"},
        {"digraph { a [x=1]; a [y=2, x=3] }", "a[x=3,y=2]"},
        {"digraph { a [x=1; y=2] [z=3] }", "a[x=1,y=2,z=3]"},
        {"digraph { node [x=1]; a; { node [x=2, y=3]; b } c }", "a[x=1] b[x=2,y=3] c[x=1]"},
        {"digraph { edge [x=1]; a -> b; subgraph s { edge [x=2]; b -> a } b -> b }",
         "a b; a>b[x=1] b>a[x=2] b>b[x=1]"},
        {"digraph { a -> { b c } -> d }", "a b c d; a>b a>c b>d c>d"},
        {"digraph { {a;b} -> c [x=1] }", "a b c; a>c[x=1] b>c[x=1]"},
        {"digraph { rankdir=LR; graph [label=\"x\"]; a }", "a"},
        {"digraph { // a\n a # b\n /* ; \n */ -> c\n#d\n}", ""},
        {"digraph { // a\n a /* ; \n */ -> c\n#d\n}", "a c; a>c"},
        {"digraph { \"a \\\"b\\\" \\n\" }", "a \"b\" \\n"},
        {"digraph { a [x=\"1\" + \"2\" + \"3\"] }", "a[x=123]"},
        {"digraph { a [x=\"1\\\n2\"] }", "a[x=12]"},
        {"digraph { a [x=-.5, y=12.25, z=3] }", "a[x=-.5,y=12.25,z=3]"},
        {"DiGraph { \"node\"; \"edge\" }", "node edge"},
    };
    for (const auto &one : cases) {
        if (*one.read != '\0' || std::string(one.text) == "digraph{}")
            EXPECT_EQ(read(one.text), one.read) << one.text;
        else
            EXPECT_EQ(parse(one.text), nullptr) << one.text;
    }
}

TEST_F(DotText, IsRefusedWithItsPlace) {
    const struct {
        const char *text;
        const char *why;
        const char *place;
    } cases[] = {
        {"", "expected 'digraph', not the end", "(column 1)"},
        {"graph { }", "expected 'digraph', since edges have a direction, not 'graph'",
         "(column 1)"},
        {"digraph {", "expected a node, not the end", "(column 10)"},
        {"digraph { } x", "expected nothing after the graph, not 'x'", "(column 13)"},
        {"digraph {\n  a -- b\n}", "expected '->', since edges have a direction, not '--'",
         "(line 2, column 5)"},
        {"digraph { a -> }", "expected a node, not '}'", "(column 16)"},
        {"digraph { a [x 1] }", "expected '=' after an attribute's name, not '1'", "(column 16)"},
        {"digraph { a [x=] }", "expected an attribute's value, not ']'", "(column 16)"},
        {"digraph { a [x=1 }", "expected an attribute or ']', not '}'", "(column 18)"},
        {"digraph { a:n }", "expected no port of a node; name operands by as=, not ':'",
         "(column 12)"},
        {"digraph { 1a }", "a number ends in letters; put it in quotes", "(column 11)"},
        {"digraph { a [x=<b>] }", "texts in <> are not read; put it in quotes", "(column 16)"},
        {"digraph { a! }", "this character has no place here", "(column 12)"},
        {"digraph { \"a }", "this string has no end; write \"", "(column 11)"},
        {"digraph { /* a }", "this comment has no end; write */", "(column 11)"},
        {"digraph { node a }", "expected '[' and default attributes, not 'a'", "(column 16)"},
        {"digraph { a [x=\"1\" + 2] }", "expected a quoted string after '+', not '2'",
         "(column 22)"},
    };
    for (const auto &one : cases) {
        const std::string said = read(one.text);
        EXPECT_EQ(status, POLYTILE_DECLARATION) << one.text;
        EXPECT_NE(said.find(std::string("text: ") + one.why), std::string::npos) << said;
        EXPECT_NE(said.find(one.place), std::string::npos) << said;
        EXPECT_NE(said.find("^"), std::string::npos) << said;
    }
}

TEST_F(DotText, IsNotNestedWithoutEnd) {
    const std::string deep = "digraph {" + std::string(1000, '{') + std::string(1000, '}') + "}";
    EXPECT_NE(read(deep).find("nested more than 64 deep"), std::string::npos);
    std::string many = "digraph {";
    for (int n = 0; n <= PTI_DOT_MAX_ITEMS; n++)
        many += " n" + std::to_string(n);
    EXPECT_NE(read(many + "}").find("more than 16384 nodes"), std::string::npos);
    EXPECT_NE(read(many.substr(0, 2000) + "} -> { x }").find("expected nothing after"),
              std::string::npos);
}

TEST_F(DotText, JoinsNoMoreStringsThanAPersonWrites) {
    std::string sum = "digraph { a [x=\"1\"";
    for (int k = 0; k < 1000; k++)
        sum += " + \"1\"";
    EXPECT_NE(read(sum + "] }").find("more than 256 strings are joined"), std::string::npos);
}

TEST_F(DotText, HasTheAttributesOfItsReaderAndGraphvizs) {
    const Dot dot = parse("digraph { a [shape=box, colour=red] }");
    ASSERT_NE(dot, nullptr);
    EXPECT_EQ(pti_dot_check_names(dot.get(), &dot->node[0].attributes, "a node", "color colour"),
              POLYTILE_OK);
    EXPECT_EQ(pti_dot_check_names(dot.get(), &dot->node[0].attributes, "a node", "size"),
              POLYTILE_DECLARATION);
    EXPECT_NE(std::string(polytile_last_error(ctx))
                  .find("a node has no attribute 'colour'; there are size, and Graphviz's own "
                        "(column 25)"),
              std::string::npos)
        << polytile_last_error(ctx);
}

} // namespace
