# Makes a project of the block of CMake in a page: awk -v source=FILE -f project.awk PAGE
#
# Pages leave out what every project has: the first lines, and the program, which the last line names.

/^```cmake$/ { on = 1; next }
/^```/ { on = 0 }
on { block = block $0 "\n" }

END {
    if (block !~ /cmake_minimum_required/) print "cmake_minimum_required(VERSION 3.22)"
    if (block !~ /project\(/) print "project(page LANGUAGES C)"
    if (block !~ /find_package\(polytile/) print "find_package(polytile REQUIRED)"
    if (block !~ /add_executable\(/) {
        match(block, /target_link_libraries\([a-z_]+ /)
        target = substr(block, RSTART + 22, RLENGTH - 23)
        print "add_executable(" target " " source ")"
    }
    printf "%s", block
}
