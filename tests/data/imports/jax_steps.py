# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two steps of a tiny model under JAX's profiler: jax_steps.py FOLDER"""

import sys

import jax
import jax.numpy as jnp


@jax.jit
def loss(w, x):
    return jnp.square(jnp.tanh(x @ w)).mean()


w, x = jnp.ones((8, 8)), jnp.ones((4, 8))
jax.grad(loss)(w, x).block_until_ready()
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 0
with jax.profiler.trace(sys.argv[1], profiler_options=options):
    for step in range(2):
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            w = w - 0.1 * jax.grad(loss)(w, x)
    w.block_until_ready()
