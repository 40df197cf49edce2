import importlib.metadata
import subprocess
import sys

from deploy.registration import entry_points, register

PROJECT = """
[project]
name = "sample"
version = "1.2.3"
[project.scripts]
sample = "sample_mod:main"
[project.entry-points."sample.commands"]
one = "sample_mod:register"
"""


def test_a_registered_tree_is_importable_runs_its_script_and_shows_its_entry_points(tmp_path):
    root, site, scripts = tmp_path / "root", tmp_path / "site", tmp_path / "bin"
    for made in (root, site, scripts):
        made.mkdir()
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "sample_mod.py").write_text("def main():\n    print('it ran')\n    return 7\n")
    (scripts / "python").symlink_to(sys.executable)
    register(root, site, scripts)
    register(root, site, scripts)  # a second time changes nothing
    assert (site / "sample.pth").read_text().strip() == str(root)
    done = subprocess.run(  # noqa: S603 - the script just written
        [str(scripts / "sample")],
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (7, "it ran\n")
    (found,) = importlib.metadata.distributions(path=[str(site)])
    assert (found.metadata["Name"], found.version) == ("sample", "1.2.3")
    groups = {point.group: point.value for point in found.entry_points}
    assert groups == {
        "console_scripts": "sample_mod:main",
        "sample.commands": "sample_mod:register",
    }


def test_groups_without_entries_are_left_out():
    assert entry_points({"scripts": {}}) == "\n"
