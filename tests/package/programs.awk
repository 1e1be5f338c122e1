# Takes the complete C programs out of a page: awk -v dir=DIR -f programs.awk PAGE
#
# A program is a block of C that has a main. It begins with a comment of its file's name,
# /* NAME.c: ... */, and the next block of text is what it prints: DIR/NAME.c and DIR/NAME.c.printed.
# Prints the names.

!is_in && /^```/ { is_in = 1; language = substr($0, 4); block = ""; next }
is_in && /^```$/ {
    is_in = 0
    if (language == "c" && block ~ /\nint main\(/) {
        if (name != "") fail(name " is followed by no block of text that says what it prints")
        if (!match(block, /^\/\* [a-z0-9_]+\.c: /)) fail("a program does not begin with its file's name")
        name = substr(block, 4, RLENGTH - 5)
        printf "%s", block > (dir "/" name)
        print name
    } else if (language == "text" && name != "") {
        printf "%s", block > (dir "/" name ".printed")
        name = ""
    }
    next
}
is_in { block = block $0 "\n" }
END { if (!failed && name != "") fail(name " is followed by no block of text that says what it prints") }

function fail(why) {
    print FILENAME ": " why > "/dev/stderr"
    failed = 1
    exit 1
}
