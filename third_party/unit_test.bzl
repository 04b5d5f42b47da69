"""Unit tests: one program a folder, since a test takes longer to link than to run."""

load("//third_party:cc_library.bzl", "join")

def unit_test(name, srcs = None, deps = [], size = "small", **kwargs):
    """Makes a test that GoogleTest's own main runs.

    Args:
      name: the test's name.
      srcs: its files; by default NAME.cc.
      deps: what it tests and uses, without GoogleTest.
      size: how long it may take, as Bazel names it.
      **kwargs: what else the native rule takes.
    """
    native.cc_test(
        name = name,
        size = size,
        srcs = join(name, srcs, are_tests = True, testonly = True) if srcs else [name + ".cc"],
        deps = deps + ["@system//:gtest_main"],
        **kwargs
    )

def unit_tests(name = "tests", apart = [], **kwargs):
    """Makes one test of all *_test.cc of the folder. `--test_filter=SUITE.*` runs some of them.

    Args:
      name: the test's name.
      apart: those of the files that have a rule of their own, since they need a process, a tag or shards to themselves.
      **kwargs: as unit_test takes them.
    """
    unit_test(name = name, srcs = native.glob(["*_test.cc"], exclude = apart), **kwargs)
