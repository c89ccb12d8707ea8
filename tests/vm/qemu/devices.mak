# SPDX-License-Identifier: GPL-2.0-only
# The devices of the guest, and nothing else: it halves the build.
CONFIG_I440FX=y
CONFIG_MICROVM=y
CONFIG_SERIAL_ISA=y
CONFIG_ISA_DEBUG=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_RNG=y
