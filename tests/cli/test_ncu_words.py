# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of ncu with ``nvspan`` before them: the line that is made of each, and what is written in
place of words that the installed ncu does not know."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from helpers import ncu as real
from helpers.script import script
from helpers.traced import needs_library
from nvspan._doctor import tools
from nvspan.cli import ncu

pytestmark = needs_library

KERNEL = "--target-processes all --replay-mode kernel"
STANDARD = f"{KERNEL} --set detailed"
OUT = "--export nvspan-%p"
INTERPRETER = subprocess._args_from_interpreter_flags()  # of the tests, which programs have, too
# What is written after "nvspan ncu", and the line of ncu.
LINES = {
    "python train.py": f"{STANDARD} {OUT} python train.py",
    "-- python train.py": f"{STANDARD} {OUT} python train.py",
    "./app 3": f"{STANDARD} {OUT} ./app 3",
    "--nvtx -o r python train.py": f"{STANDARD} --export r --nvtx python train.py",
    "--nvtx --nvtx-include app@step/ --nvtx-include=load -f -o r python train.py": (
        f"{STANDARD} --nvtx --nvtx-include app@step/ --nvtx-include load --force-overwrite "
        "--export r python train.py"
    ),
    "--nvtx --nvtx-include 'step/*/layer' --nvtx-exclude app@load python train.py": (
        f"{STANDARD} --nvtx --nvtx-include 'step/*/layer' --nvtx-exclude app@load {OUT} "
        "python train.py"
    ),
    "--replay-mode application python train.py": (
        f"--target-processes all --replay-mode application --set detailed {OUT} python train.py"
    ),
    "--replay-mode app-range --nvtx --nvtx-include step/ --no-check python train.py": (
        "--target-processes all --replay-mode app-range --set detailed --nvtx --nvtx-include step/ "
        f"{OUT} python train.py"
    ),
    "--kernel-name regex:gemm python train.py": (
        f"{STANDARD} {OUT} --kernel-name regex:gemm python train.py"
    ),
    "-k gemm --kernel-name-base demangled python train.py": (
        f"{STANDARD} {OUT} --kernel-name gemm --kernel-name-base demangled python train.py"
    ),
    "--launch-skip 3 --launch-count=2 python train.py": (
        f"{STANDARD} --launch-skip 3 --launch-count 2 {OUT} python train.py"
    ),
    "-s 3 -c 2 python train.py -c 5": (
        f"{STANDARD} --launch-skip 3 --launch-count 2 {OUT} python train.py -c 5"
    ),
    "-c 2 -c pass": f"{STANDARD} --launch-count 2 {OUT} PYTHON -c pass",
    "--target-processes application-only python train.py": (
        "--target-processes application-only --replay-mode kernel --set detailed "
        f"{OUT} python train.py"
    ),
    "--set full --export r --force-overwrite python train.py": (
        f"{KERNEL} --set full --force-overwrite --export r python train.py"
    ),
    "--section SpeedOfLight --section 'regex:.*Stats' --section launch python train.py": (
        f"{KERNEL} {OUT} --section SpeedOfLight --section 'regex:.*Stats' --section LaunchStats "
        "python train.py"
    ),
    "--metrics a__b.sum,regex:c__d --metrics e__f python train.py": (
        f"{KERNEL} --metrics a__b.sum,regex:c__d,e__f {OUT} python train.py"
    ),
    # nvspan prints these, of the report.
    "--csv --log-file out.csv python train.py": f"{STANDARD} {OUT} python train.py",
    "--csv --page raw python train.py": f"{STANDARD} {OUT} python train.py",
    "--page details --print-details all python train.py": f"{STANDARD} {OUT} python train.py",
    "--print-summary per-kernel python train.py": f"{STANDARD} {OUT} python train.py",
    "--clock-control boost --cache-control none python train.py": (
        f"{STANDARD} --clock-control boost --cache-control none {OUT} python train.py"
    ),
    "--graph-profiling=node --rule A --rule B -p 7 --null-stdin python train.py": (
        f"{STANDARD} {OUT} --null-stdin --port 7 --graph-profiling node --rule A --rule B "
        "python train.py"
    ),
    "--set basic torchrun --nproc-per-node 2 train.py": (
        "torchrun --nproc-per-node 2 --no-python ncu " + KERNEL + " --set basic "
        "--export 'nvspan-%h-%q{RANK}-%p' PYTHON -u train.py"
    ),
    # ncu answers these without a program.
    "--list-sections": "--list-sections",
    "--list-sets": "--list-sets",
    "--list-metrics --section SpeedOfLight": "--list-metrics --section SpeedOfLight",
    "--query-metrics --chips gh100 --csv": "--query-metrics --chips gh100 --csv",
    "--query-metrics-mode suffix --metrics sm__cycles": (
        "--query-metrics-mode suffix --metrics sm__cycles"
    ),
    "--query-metrics-collection=launch": "--query-metrics-collection=launch",
    "--version": "--version",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("NVSPAN_NCU", raising=False)
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script(tmp_path / "app", "#!/bin/sh\n")
    return tmp_path


def run(capsys, *words):
    """The exit code, what is printed, and what is said."""
    try:
        code = ncu.main(words)
    except SystemExit as ended:
        code = ended.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize("words", LINES)
def test_the_line_of_ncu(words, capsys, monkeypatch):
    monkeypatch.setitem(tools._FOLDERS, "ncu", ())  # not the one of this machine
    code, printed, _ = run(capsys, "--dry-run", *shlex.split(words))
    assert code == 0
    line = shlex.split(LINES[words].replace("PYTHON", sys.executable))
    made = [word for word in shlex.split(printed) if word not in INTERPRETER]
    assert made == (line if "torchrun" in words else ["ncu", *line])


TRAIN = """
import nvspan
for number in range(4):
    with nvspan.annotate("python"), nvspan.annotate("head"):
        pass
"""
INCLUDED = {
    "python train.py": ["python/"],
    "head train.py": ["head/"],
    "head --launch-count 1 python train.py": ["head/", "python/"],
    "sort train.py": [],
    "python other.py": [],
    "--nvtx python train.py": [],
    "-- python train.py": [],
}


@pytest.mark.parametrize("words", INCLUDED)
def test_a_program_is_a_range_where_the_dry_recording_has_it(words, folder, capsys):
    (folder / "train.py").write_text(TRAIN)
    (folder / "other.py").write_text(TRAIN.replace("python", "step"))
    code, printed, _ = run(capsys, "--dry-run", *words.split())
    made = shlex.split(printed)
    assert code == 0
    assert [made[at + 1] for at, word in enumerate(made) if word == "--nvtx-include"] == (
        INCLUDED[words]
    )
    program = [word for word in made if word not in INTERPRETER][-2]
    assert program == (sys.executable if INCLUDED[words] else words.split()[-2])


def test_a_range_of_a_recording_that_exists(folder, capsys):
    from helpers.recorded import record_command

    (folder / "train.py").write_text(TRAIN)
    recording = record_command([sys.executable, "train.py"], folder=folder).recording
    path = recording.processes[0].path
    code, printed, said = run(capsys, "--dry-run", "--using", path, "python", "train.py")
    assert (code, "recording the first" in said) == (0, False)
    assert "--nvtx-include python/" in printed


SETS = """\
---------- --------------------------------------------- ------- -----------------
Identifier Sections                                      Enabled Estimated Metrics
---------- --------------------------------------------- ------- -----------------
basic      LaunchStats, Occupancy, SpeedOfLight          yes     190
full       ComputeWorkloadAnalysis, InstructionStats,    no      6,000
           LaunchStats
pmsampling PmSampling                                    no      286
roofline   SpeedOfLight                                  no      4,000
"""
UNKNOWN = {
    "--set brief python train.py": (
        "ncu has no set 'brief': write --set basic or full or pmsampling or roofline"
    ),
    "--kernel-replay-mode application python train.py": (
        "unrecognized arguments: --kernel-replay-mode; the nearest is '--replay-mode'"
    ),
    "layer*/ train.py": (
        "'*' in 'layer*/' stands in a name: write '\\*' where the name has it; for any text in its "
        "place 'layer*', a plain name of 'nvspan ncu', or 'regex:^layer.*$/'"
    ),
    "--nvtx-include app@a.* python train.py": (
        "'*' in 'app@a.*' stands in a name: write '\\*' where the name has it; for any text in its "
        "place 'app:a.*', a plain name of 'nvspan ncu', or 'regex:^app$@^a\\..*$'"
    ),
    "--kernel a -k b python train.py": "--kernel and --kernel-name cannot be used together",
    "--calls 1:2 --range-filter ::3 python train.py": (
        "--range-filter and --calls cannot be used together"
    ),
    "--format json --page raw python train.py": (
        "--format json cannot be used with what ncu prints itself"
    ),
    "--log-file no/x.csv python train.py": ("cannot write 'no/x.csv': there is no directory 'no'"),
}


@pytest.mark.parametrize("words", UNKNOWN)
def test_what_is_written_in_place_of_unknown_words(words, folder, capsys):
    (folder / "train.py").write_text(TRAIN)
    (folder / "sets").write_text(SETS)
    script(folder / "bin" / "ncu", f"#!/bin/sh\ncat {folder}/sets\n")
    code, printed, said = run(capsys, "--no-check", *words.split())
    assert (code, printed) == (2, "")
    assert said.splitlines()[-1] == f"nvspan ncu: error: {UNKNOWN[words]}"


def test_what_ncu_lists_is_printed_by_ncu(folder, capfd):
    script(folder / "bin" / "ncu", '#!/bin/sh\necho "$@"\nexit 3\n')
    assert ncu.main(["--ncu", "ncu", "--list-sections", "--section-folder", "x"]) == 3
    assert capfd.readouterr() == ("--list-sections --section-folder x\n", "")


# ---- reports


@pytest.fixture
def shown(folder, capfd):
    """What nvspan ncu prints of nodes.ncu-rep, with a program in place of ncu that prints what ncu
    printed, and the options that this program had."""
    tool = real.recorded(folder)

    def shown(*words):
        code = ncu.main(["--import", str(real.DATA / "nodes.ncu-rep"), "--ncu", tool, *words])
        assert code == 0
        calls = (folder / "ncu.calls").read_text().splitlines()
        (folder / "ncu.calls").unlink()
        return capfd.readouterr().out, [line.partition("nodes.ncu-rep ")[2] for line in calls]

    return shown


RAW = "--csv --page raw --print-kernel-base function --print-units base"


def test_import_is_read(shown):
    printed, calls = shown("--csv")
    assert printed.splitlines()[0].startswith("domain,name,kind,results,")
    assert calls == [RAW]


def test_a_program_is_a_range_of_a_report(folder, capsys):
    report, tool = str(real.DATA / "nodes.ncu-rep"), real.recorded(folder)
    code, printed, said = run(capsys, "python", "--ncu", tool, "--read", report)
    assert (code, printed) == (2, "")
    assert said == (
        "nvspan ncu: error: ranges: no range 'python' in the report; the nearest are 'launched'\n"
    )


def test_kernels_of_a_report_are_chosen_by_ncu(shown):
    words = "--kernel-name regex:spin --launch-skip 1 --kernel-name-base demangled"
    _, calls = shown(*words.split())
    assert calls == [f"{RAW} --launch-skip 1 --kernel-name regex:spin --kernel-name-base demangled"]


def test_ranges_of_a_report_in_the_words_of_ncu(shown):
    names = [shown("--csv", "--kernels", "--nvtx", *words)[0].count("app:launched") for words in (
        ("--nvtx-include", "app@launched/"), ("--nvtx-include", "app@x/"),
        ("--nvtx-exclude", "app@launched/"), ("--exclude", "launched"), (),
    )]  # fmt: skip
    assert names == [2, 0, 0, 0, 2]


def test_a_section_shows_the_page_details(shown):
    printed, calls = shown("--section", "LaunchStats", "--launch-count", "9")
    assert printed.splitlines()[0] == "app:launched: spin"
    assert "GPU Speed Of Light" not in printed
    assert [call.split()[2] for call in calls] == ["raw", "details"]
    assert all(call.endswith("--launch-count 9") for call in calls)


BY_NCU = {
    "--page raw --csv": "--page raw --csv",
    "--csv --page raw --print-units base --metrics a__b": (
        "--page raw --print-units base --csv --metrics a__b"
    ),
    "--print-summary per-kernel": "--print-summary per-kernel",
    "--page details --print-details all --nvtx --nvtx-include app@launched/": (
        "--page details --print-details all --nvtx-include app@launched/"
    ),
    "--page source --view sass -k spin": "--kernel-name spin --page source --view sass",
    "--export new -f --launch-count 1": "--launch-count 1 --export new --force-overwrite",
}


@pytest.mark.parametrize("words", BY_NCU)
def test_what_ncu_prints_of_a_report(words, shown, folder):
    printed, calls = shown(*words.split())
    assert calls[-1] == BY_NCU[words]
    assert printed == "printed by ncu\n"


def test_the_log_file_has_the_table(shown, folder):
    table, _ = shown("launched")
    printed, _ = shown("launched", "--log-file", "out.txt")
    assert (printed, (folder / "out.txt").read_text()) == ("", table)
    assert shown("launched", "--log-file", "stdout")[0] == table
    assert shown("--page", "session", "--log-file", "out.txt")[0] == ""
    assert (folder / "out.txt").read_text() == "printed by ncu\n"


# ---- what a run prints of its report

_RUN = """#!/bin/sh
case "$*" in
  *--export*) cp {data}/nodes.ncu-rep r.ncu-rep;;
  *) exec {recorded} "$@";;
esac
"""
SHOWN = {
    "": ("range ", []),
    "--csv": ("domain,name,kind,results,", []),
    "--page details": ("app:launched: spin\n", []),
    "--page details --csv": ("report,number,range,kernel,section,", []),
    "--page raw --csv": ("printed by ncu\n", ["--page raw --csv"]),
    "--print-summary per-kernel": ("printed by ncu\n", ["--print-summary per-kernel"]),
    "--csv --print-units base --page details": (
        "printed by ncu\n", ["--page details --print-units base --csv"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", SHOWN)
def test_what_a_run_shows_in_the_words_of_ncu(words, folder, capfd):
    tool = script(folder / "tool", _RUN.format(data=real.DATA, recorded=real.recorded(folder)))
    shown, calls = SHOWN[words]
    line = ("-o", "r", "--ncu", tool, *words.split(), "--nvtx-include", "app@launched/")
    assert ncu.main([*line, "--", "true"]) == 0
    printed, said = capfd.readouterr()
    assert (printed, said.startswith(shown)) == ("", True)
    made = [call.partition("r.ncu-rep ")[2]
            for call in (folder / "ncu.calls").read_text().splitlines()]  # fmt: skip
    assert [call for call in made if "--print-kernel-base" not in call] == calls
    (folder / "r.ncu-rep").unlink()
    assert ncu.main([*line, "--log-file", "t.txt", "true"]) == 0
    assert capfd.readouterr() == ("", said[len((folder / "t.txt").read_text()) :])
    assert (folder / "t.txt").read_text() == said[: len((folder / "t.txt").read_text())]
    (folder / "r.ncu-rep").unlink()
    assert ncu.main([*line, "--log-file", "stdout", "--no-check", "--", "true"]) == 0
    assert capfd.readouterr()[0] == (folder / "t.txt").read_text()
