"""Libraries that one release of Debian has and another has not."""

def _found_libraries_impl(ctx):
    found = []
    for name in ctx.attr.libraries:
        # The compiler prints the whole path of what it finds, and else only the name.
        path = ctx.execute(["g++", "-print-file-name=lib%s.so" % name]).stdout
        if path.startswith("/"):
            found.append(name)
    ctx.file("BUILD", "")
    ctx.file("found.bzl", "FOUND = %s\n" % repr(found))

# Its found.bzl has a list FOUND of those `libraries` which are installed, named without "lib" and ".so".
found_libraries = repository_rule(
    implementation = _found_libraries_impl,
    attrs = {"libraries": attr.string_list(mandatory = True)},
    local = True,
)
