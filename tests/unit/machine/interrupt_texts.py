"""/proc/interrupts as several kinds of machine write it (shortened)."""

from __future__ import annotations

VIRTUAL_MACHINE = """\
           CPU0       CPU1
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 35:          0          1 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config
 36:          0    1147561 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 41:       2724          0 PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx
NMI:          0          0   Non-maskable interrupts
LOC:     395786     421281   Local timer interrupts
RES:     187495      95855   Rescheduling interrupts
CAL:     945159     664554   Function call interrupts
HYP:         91         26   Hypervisor callback interrupts
ERR:          0
MIS:          0
"""

# CPU 2 is offline; two drivers share 18; 7 has nobody to handle it; the chip's name has no hardware number.
BARE_METAL = """\
            CPU0       CPU1       CPU3
   0:         44          0          0  IR-IO-APIC    2-edge      timer
   7:          0          5          0  IR-IO-APIC    7-edge
   9:          0          0          7  IR-IO-APIC    9-fasteoi   acpi
  18:          2          0         40  IR-IO-APIC   18-fasteoi   i801_smbus, ehci_hcd:usb1
 120:          0          0          0  DMAR-MSI    0-edge      dmar0
 131:        300          0          1  IR-PCI-MSI-0000:01:00.0    1-edge      nvme0q1
 140:          0        900          0  PCI-MSI-edge      eth0-TxRx-0
NMI:         11         12         13   Non-maskable interrupts
LOC:   99999999   99999999   99999999   Local timer interrupts
PIN:          0          0          0   Posted-interrupt notification event
"""

ARM = """\
           CPU0       CPU1       CPU2       CPU3
 11:    5000001    5000002    5000003    5000004     GICv3  27 Level     arch_timer
 12:          0          0          0          0     GICv3  23 Level     arm-pmu
 14:          6          0          0          0     GICv3 117 Level     ttyAMA0
 51:         10         20         30         40   ITS-MSI 524289 Edge      nvme0q1
 52:          0          0        700          0  ITS-PCI-MSIX-0000:00:05.0   1 Edge      eth0-Tx-Rx-0
IPI0:    123456     123456     123456     123456       Rescheduling interrupts
IPI1:     65432      65432      65432      65432       Function call interrupts
Err:          0
"""

XEN = """\
           CPU0       CPU1
 48:    7000000          0  xen-percpu    -virq      timer0
 49:          0    7000001  xen-percpu    -virq      timer1
 50:     800000          0  xen-percpu    -ipi       resched0
 71:         12        345  xen-dyn    -event     blkif
HYP:    8000000    8000000   Hypervisor callback interrupts
"""

HYPER_V = """\
           CPU0       CPU1
  1:          9          0   IO-APIC   1-edge      i8042
LOC:          0          0   Local timer interrupts
HYP:        400       1600   Hypervisor callback interrupts
HRE:          0          0   Hyper-V reenlightenment interrupts
HVS:     777777     888888   Hyper-V stimer0 interrupts
"""


def wide(count: int) -> str:
    """A machine with a disk queue on each CPU, and a network card on the last."""
    blanks = " " * 11
    head = blanks + "".join(f"CPU{cpu:<8}" for cpu in range(count))
    queues = [
        f"{100 + cpu:>4}: "
        + "".join(f"{1000 if at == cpu else 0:>10} " for at in range(count))
        + f" PCI-MSIX-0000:c1:00.0 {cpu + 1:>3}-edge      nvme0q{cpu + 1}"
        for cpu in range(count)
    ]
    card = (
        " 900: "
        + "".join(f"{500_000 if at == count - 1 else 0:>10} " for at in range(count))
        + " PCI-MSIX-0000:21:00.0   0-edge      mlx5_comp0@pci:0000:21:00.0"
    )
    return "\n".join((head, *queues, card)) + "\n"
