"""The structs of the package are those of the headers."""

import pathlib
import shutil
import subprocess

import pytest

from polytile._library import ffi

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
STRUCTS = ["polytile_range", "polytile_domain", "polytile_parameter", "polytile_plan_options",
           "polytile_launch_options", "polytile_compile_options", "polytile_report",
           "polytile_device_memory", "polytile_view", "polytile_sub_kernel",
           "polytile_implementation", "polytile_share_options", "polytile_progress"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_structs_are_those_of_the_headers(tmp_path):
    lines = ["#include <polytile/polytile.h>", "#include <polytile/compile.h>",
             "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for struct in STRUCTS:
        lines.append(f'printf("{struct} %zu\\n", sizeof({struct}));')
        for member, _ in ffi.typeof(struct).fields:
            lines.append(f'printf("{struct}.{member} %zu\\n", offsetof({struct}, {member}));')
    (tmp_path / "layout.c").write_text("\n".join(lines + ["}"]))
    subprocess.run(["cc", f"-I{INCLUDE}", "-o", tmp_path / "layout", tmp_path / "layout.c"],
                   check=True)
    found = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout
    expected = []
    for struct in STRUCTS:
        expected.append(f"{struct} {ffi.sizeof(struct)}")
        for member, field in ffi.typeof(struct).fields:
            expected.append(f"{struct}.{member} {field.offset}")
    assert found.splitlines() == expected
