"""Unit tests, which most test targets are."""

def unit_test(name, data = [], deps = [], size = "small"):
    """Makes a test of NAME.cc that GoogleTest's own main runs.

    Args:
      name: the test's name, as its file has it.
      data: the files that it reads.
      deps: what it tests and uses, without GoogleTest.
      size: how long it may take, as Bazel names it.
    """
    native.cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"],
        data = data,
        deps = deps + ["@system//:gtest_main"],
    )
