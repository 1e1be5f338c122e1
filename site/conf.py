"""The site: pages of docs/ as they are, and the reference from the public headers. scripts/site puts
the sources together and calls Sphinx."""

import os
import pathlib
import re
import xml.etree.ElementTree as xml

# What other headers include, and what has nothing of its own.
INSIDE = "(kernel|message)_|polytile.h"

with open("CMakeLists.txt") as build:
    release = re.search(r"project\(polytile VERSION ([0-9.]+)", build.read())[1]

project = "polytile"
author = copyright = "polytile contributors"
version = release
extensions = ["myst_parser", "breathe"]
root_doc = "index"
exclude_patterns = ["CMakeLists.txt", "reports"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "config.cache"]
# Declarations and other languages of its own have no colours.
highlight_language = "none"

breathe_projects = {"polytile": os.environ["POLYTILE_SITE_XML"]}
breathe_default_project = "polytile"
breathe_domain_by_extension = {"h": "c"}
breathe_domain_by_file_pattern = {"*cuda.h": "cpp"}
breathe_show_include = False
primary_domain = "c"

html_theme = "furo"
html_title = f"polytile {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["reports"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False


def name_other_pages(app, docname, source):
    """Pages that no list of the first page names are added to the last one that has OTHER_PAGES."""
    if docname == root_doc:
        listed = set(re.findall(r"^docs/\w+$", source[0], re.MULTILINE))
        others = sorted(name for name in app.env.found_docs
                        if name.startswith("docs/") and name not in listed)
        source[0] = source[0].replace("OTHER_PAGES", "\n".join(others))


def add_other_headers(app, docname, source):
    """Headers that programs include and that no page of the reference names have their place on its first page."""
    if docname == "reference/index":
        pages = "".join(page.read_text() for page in pathlib.Path("reference").glob("*.md"))
        for header in sorted(pathlib.Path("include/polytile").glob("*.h")):
            if f"{{doxygenfile}} {header.name}\n" not in pages and not re.match(INSIDE, header.name):
                source[0] += f"\n## polytile/{header.name}\n\n```{{doxygenfile}} {header.name}\n```\n"


def is_said(member):
    return any("".join(member.find(name).itertext()).strip()
               for name in ("briefdescription", "detaileddescription"))


def leave_out_inner_members():
    """Macros PT_... and what bodies are made of, pt_..., are the headers' own where no comment explains
    them."""
    for path in pathlib.Path(os.environ["POLYTILE_SITE_XML"]).glob("*_8h.xml"):
        tree = xml.parse(path)
        inner = ("PT_", "pt_") if path.name.startswith("kernel__") else ("PT_",)
        for section in tree.getroot().iter("sectiondef"):
            for member in section.findall("memberdef"):
                if member.findtext("name").startswith(inner) and not is_said(member):
                    section.remove(member)
        tree.write(path, encoding="unicode", xml_declaration=True)


leave_out_inner_members()


def setup(app):
    app.connect("source-read", add_other_headers)
    app.connect("source-read", name_other_pages)
