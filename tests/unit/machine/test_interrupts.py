"""Device interrupts: read as several kinds of machine write them, and judged by the doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.measure.machine import cpus, interrupts
from tare.measure.machine.doctor import Status
from tare.measure.machine.doctor.interrupting import judge
from tare.measure.machine.interrupts import Burden, Interrupts, parse, parse_rescheduling
from tests.unit.machine import interrupt_texts as texts


def names(found: Interrupts) -> dict[str, int]:
    return {source.name: source.total for source in found.sources}


def test_devices_are_counted_and_what_is_local_to_each_cpu_is_not() -> None:
    found = parse(texts.VIRTUAL_MACHINE)
    assert names(found) == {"ACPI:Ged": 1, "virtio1-config": 1, "virtio1-req.0": 1147561, "virtio3-rx": 2724}
    assert (found.on([0]), found.on([1])) == (2725, 1147562)
    assert found.share([1]) == pytest.approx(0.99763, abs=1e-5)
    busiest = found.busiest(1)[0]
    assert (busiest.number, busiest.name, busiest.counts) == (36, "virtio1-req.0", {0: 0, 1: 1147561})


def test_calls_between_cpus_are_added_up_where_the_kernel_tells_them() -> None:
    assert parse_rescheduling(texts.VIRTUAL_MACHINE) == 187495 + 95855
    assert parse_rescheduling(texts.ARM) == 4 * 123456
    assert parse_rescheduling(texts.HYPER_V) is None
    assert parse_rescheduling("") is None


def test_columns_belong_to_the_cpus_that_are_online() -> None:
    found = parse(texts.BARE_METAL)
    assert found.cpus == (0, 1, 3)
    assert found.on([3]) == 7 + 40 + 1
    assert found.on([2]) == 0


def test_shared_unhandled_and_old_style_rows_have_a_name() -> None:
    assert names(parse(texts.BARE_METAL)) == {
        "timer": 44,
        "interrupt 7": 5,
        "acpi": 7,
        "i801_smbus, ehci_hcd:usb1": 42,
        "dmar0": 0,
        "nvme0q1": 301,
        "eth0-TxRx-0": 900,
    }


def test_on_arm_the_timer_and_the_counters_of_each_cpu_are_left_out_though_they_have_numbers() -> None:
    found = parse(texts.ARM)
    assert names(found) == {"ttyAMA0": 6, "nvme0q1": 100, "eth0-Tx-Rx-0": 700}
    assert [found.on([cpu]) for cpu in found.cpus] == [16, 20, 730, 40]


def test_on_xen_the_virtual_timer_and_calls_between_cpus_are_left_out() -> None:
    assert names(parse(texts.XEN)) == {"blkif": 357}


def test_on_hyper_v_the_callback_stands_for_the_devices() -> None:
    found = parse(texts.HYPER_V)
    assert names(found) == {"i8042": 9, "VMBus": 2000}
    assert found.busiest(1)[0].number is None


def test_every_cpu_of_a_wide_machine_has_its_column() -> None:
    found = parse(texts.wide(288))
    assert found.cpus == tuple(range(288))
    assert {found.on([cpu]) for cpu in range(287)} == {1000}
    assert found.on([287]) == 501_000
    assert found.busiest(287)[0].name == "mlx5_comp0@pci:0000:21:00.0"


@pytest.mark.parametrize(
    "text", ["", "\n", "nonsense\nmore: of it\n", "     CPU0   CPU1\n 36:   7\n 37: x y z\n"]
)
def test_what_is_not_understood_is_left_out(text: str) -> None:
    assert parse(text).total == 0


def test_a_difference_holds_what_came_since() -> None:
    later = texts.VIRTUAL_MACHINE.replace("1147561", "1147600").replace("      2724 ", "      2725 ")
    passed = parse(later).since(parse(texts.VIRTUAL_MACHINE))
    assert names(passed) == {"ACPI:Ged": 0, "virtio1-config": 0, "virtio1-req.0": 39, "virtio3-rx": 1}


def row(count: int, name: str = "eth0") -> Interrupts:
    return parse(f"       CPU0\n 36: {count} PCI-MSIX-0000:00:02.0   1-edge      {name}\n")


def test_a_counter_that_wrapped_goes_on_and_one_that_began_anew_is_taken_as_it_is() -> None:
    assert row(5).since(row(2**32 - 10)).total == 15
    assert row(5).since(row(1000)).total == 5
    assert row(5, "eth1").since(row(3, "eth0")).total == 5  # the number went to another device


def test_a_cpu_that_came_online_in_between_began_at_nought() -> None:
    two = parse("      CPU0 CPU1\n 36: 9 4 PCI-MSI 1-edge      eth0\n")
    assert two.since(row(5)).sources[0].counts == {0: 4, 1: 4}


def burden(boot: str, lately: str = "", seconds: float = 1.0) -> Burden:
    return Burden(parse(boot), parse(lately), seconds)


def test_a_sample_speaks_only_if_it_is_large_enough() -> None:
    now = "      CPU0 CPU1\n 41: {} 0 PCI-MSI 1-edge      virtio3-rx\n"
    few, many = (burden(texts.VIRTUAL_MACHINE, now.format(count)) for count in (20, 20_000))
    assert few.share([0]) == pytest.approx(0.0024, abs=1e-4)
    assert many.share([0]) == 1.0
    assert many.share([1]) == pytest.approx(0.9976, abs=1e-4)  # what it took since boot still counts


def test_the_doctor_names_the_cpu_its_sources_and_the_way_out() -> None:
    found = judge(burden(texts.VIRTUAL_MACHINE))
    assert found.status is Status.ADVICE
    assert found.observed.startswith("CPU 1 takes 100% of 1,150,287 since boot: virtio1-req.0 1,147,561")
    assert "CPU 0 takes 0.2%" in found.observed
    assert "tare isolate" in found.next_step
    assert "echo 0 > /proc/irq/36/smp_affinity_list" in found.next_step


def test_the_doctor_names_a_cpu_that_only_the_sample_shows() -> None:
    found = judge(
        burden(texts.ARM, "  CPU0 CPU1 CPU2 CPU3\n 51: 0 9000 0 0 ITS-MSI 524289 Edge      nvme0q1\n")
    )
    assert found.observed.startswith("CPU 1 takes 100% of 9,000 in the sample: nvme0q1 9,000")


def test_the_doctor_has_no_advice_where_devices_spread_evenly() -> None:
    even = "      CPU0 CPU1\n 36: 5000 4900 PCI-MSI 1-edge      eth0\n"
    assert judge(burden(even)).status is Status.GOOD


def test_the_doctor_sees_no_pattern_in_a_handful() -> None:
    assert judge(burden(texts.XEN)).status is Status.GOOD


def test_the_doctor_advises_no_other_cpu_where_there_is_none() -> None:
    found = judge(Burden(row(10_000), row(10), 1.0))
    assert found.status is Status.NOT_APPLICABLE
    assert "10,000" in found.observed


@pytest.mark.parametrize("hidden", [None, burden("")])
def test_the_doctor_says_where_interrupts_are_hidden(hidden: Burden | None) -> None:
    assert judge(hidden).status is Status.UNKNOWN


def test_a_vmbus_has_no_number_to_move() -> None:
    assert "/proc/irq" not in judge(burden(texts.HYPER_V)).next_step


@pytest.mark.skipif(
    not (interrupts.PROC_INTERRUPTS.exists() and interrupts.read().cpus),
    reason="this machine shows no interrupts",
)
def test_this_machines_own_file_is_read_to_the_last_count() -> None:
    before = interrupts.read()
    found = interrupts.watch(0.05)
    assert set(found.boot.cpus) == cpus.online()
    assert before.total + found.lately.total <= found.boot.total
    for source in found.boot.sources:
        if source.number is not None:
            assert (Path("/proc/irq") / str(source.number)).is_dir()
