# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How far the clocks of a job's hosts are apart, measured over the network.

It must never import torch, nor need anything but sockets. Start with `probe`.
"""
