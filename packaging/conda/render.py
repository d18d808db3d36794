#!/usr/bin/env python3
"""Renders recipe.yaml as rattler-build does, which also checks it against the schema: pip install py-rattler-build

usage: render.py
"""

import os

from rattler_build import Stage0Recipe, VariantConfig

FOLDER = os.path.dirname(os.path.abspath(__file__))
VARIANTS = {"c_compiler": ["gcc"], "c_compiler_version": ["14"], "cxx_compiler": ["gxx"], "cxx_compiler_version": ["14"],
            "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "target_platform": ["linux-64"]}


def main():
    recipe = Stage0Recipe.from_file(os.path.join(FOLDER, "recipe.yaml"))
    for variant in recipe.render(VariantConfig(VARIANTS)):
        output = variant.recipe
        host = [str(item) for item in output.requirements.host]
        print(f"{output.package.name} {output.package.version}: {len(host)} libraries")


if __name__ == "__main__":
    main()
