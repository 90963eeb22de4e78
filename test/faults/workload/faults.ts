import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freeze, thaw } from '../../freeze.ts'
import { pace } from '../../pace.ts'
import type { Processes } from './processes.ts'
import type { Choices } from '../../seeded.ts'
import type { Surroundings } from './surroundings.ts'

/** What a fault happens to. */
export type Struck = { readonly processes: Processes; readonly around: Surroundings; readonly choices: Choices }

/** Something that goes wrong while clients work, and is over again. */
export type Fault = {
  readonly about: string
  /** What has to be made before the first process starts. */
  readonly needs?: 'small disk' | 'post' | 'servers'
  /** Loaded into each process before the service. */
  readonly preload?: string
  /** Begins and ends it. */
  strike(struck: Struck): Promise<void>
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Milliseconds of a fault that lasts: long enough that clients meet it, short enough that many fit into a run. */
const SHORT = [300, 1_500] as const
/** Milliseconds that a full disk is full: the log asks now and then whether there is room. */
const FULL = 1_500
/** Milliseconds by which everything that waits for a slow disk waits longer. */
const SLOW = [20, 120] as const

const last = (choices: Choices) => pace(choices.between(...SHORT))
const any = ({ processes, choices }: Struck) => choices.below(processes.count)

export const FAULTS = {
  'kill -9': {
    about: 'one of the processes ends as by a power cut, and starts again',
    strike: (struck) => struck.processes.replace(any(struck)),
  },
  SIGSTOP: {
    about: 'one of the processes stands still for a while, and goes on with what it had begun',
    async strike(struck) {
      const { pid } = struck.processes.at(any(struck))
      await freeze(pid)
      await last(struck.choices)
      thaw(pid)
    },
  },
  'clock jumps': {
    about: "one of the processes finds the system's clock 30 days ahead, and then back",
    preload: here('../set-clock.js'),
    async strike(struck) {
      const { pid } = struck.processes.at(any(struck))
      process.kill(pid, 'SIGUSR2')
      await last(struck.choices)
      process.kill(pid, 'SIGUSR2')
    },
  },
  'slow disk': {
    about: 'every commit and every fsync takes longer',
    preload: here('slow-disk.js'),
    async strike({ around, choices }) {
      writeFileSync(around.slowDisk, String(Math.round(choices.between(...SLOW))))
      await last(choices)
      rmSync(around.slowDisk)
    },
  },
  'full disk': {
    about: 'the disk of the data folder has no room left, and then has some again',
    needs: 'small disk',
    async strike({ around }) {
      around.disk?.fill()
      await pace(FULL)
      around.disk?.free()
    },
  },
  'mail away': {
    about: 'the mail server is gone, and comes back',
    needs: 'post',
    async strike({ around, choices }) {
      await around.post?.leave()
      await last(choices)
      await around.post?.comeBack()
    },
  },
  'log away': {
    about: 'the server of the log stands still, or takes no connections',
    needs: 'servers',
    async strike({ around, choices }) {
      const { log } = around.servers ?? {}
      const isFrozen = choices.next() < 0.5
      await (isFrozen ? log?.freeze() : log?.down())
      await last(choices)
      await (isFrozen ? log?.thaw() : log?.up())
    },
  },
  'read models away': {
    about: 'the server of the read models stands still, or is killed and starts again',
    needs: 'servers',
    async strike({ around, choices }) {
      const { reads } = around.servers ?? {}
      if (choices.next() < 0.5) return reads?.replace(() => last(choices))
      await reads?.freeze()
      await last(choices)
      reads?.thaw()
    },
  },
} satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

export const faultOf = (name: FaultName): Fault => FAULTS[name]
