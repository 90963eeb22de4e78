import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freeze, thaw } from '../../freeze.ts'
import { pace } from '../../pace.ts'
import type { Processes } from './processes.ts'
import type { Choices } from '../../seeded.ts'
import type { Surroundings } from './surroundings.ts'

/** What a fault applies to. */
export type Struck = { readonly processes: Processes; readonly around: Surroundings; readonly choices: Choices }

/** A temporary fault that occurs while clients work. */
export type Fault = {
  readonly about: string
  /** What must be set up before the first process starts. */
  readonly needs?: 'small disk' | 'post' | 'servers'
  /** A module that each process imports before the service. */
  readonly preload?: string
  /** Begins and ends the fault. */
  strike(struck: Struck): Promise<void>
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Duration of a fault in milliseconds: long enough to affect clients, short enough for many in a run. */
const SHORT = [300, 1_500] as const
/** Milliseconds for which the disk is full: the log checks for free space only now and then. */
const FULL = 1_500
/** Milliseconds by which a slow disk delays each wait for it. */
const SLOW = [20, 120] as const

const last = (choices: Choices) => pace(choices.between(...SHORT))
const any = ({ processes, choices }: Struck) => choices.below(processes.count)

export const FAULTS = {
  'kill -9': {
    about: 'one process is killed with SIGKILL and restarted',
    strike: (struck) => struck.processes.replace(any(struck)),
  },
  SIGSTOP: {
    about: 'one process is stopped for a while and then continues',
    async strike(struck) {
      const { pid } = struck.processes.at(any(struck))
      await freeze(pid)
      await last(struck.choices)
      thaw(pid)
    },
  },
  'clock jumps': {
    about: 'the system clock of one process is temporarily 30 days ahead',
    preload: here('../set-clock.js'),
    async strike(struck) {
      const { pid } = struck.processes.at(any(struck))
      process.kill(pid, 'SIGUSR2')
      await last(struck.choices)
      process.kill(pid, 'SIGUSR2')
    },
  },
  'slow disk': {
    about: 'each commit and each fsync takes longer',
    preload: here('slow-disk.js'),
    async strike({ around, choices }) {
      writeFileSync(around.slowDisk, String(Math.round(choices.between(...SLOW))))
      await last(choices)
      rmSync(around.slowDisk)
    },
  },
  'full disk': {
    about: 'the disk of the data folder is temporarily full',
    needs: 'small disk',
    async strike({ around }) {
      around.disk?.fill()
      await pace(FULL)
      around.disk?.free()
    },
  },
  'mail away': {
    about: 'the mail server is temporarily unavailable',
    needs: 'post',
    async strike({ around, choices }) {
      await around.post?.leave()
      await last(choices)
      await around.post?.comeBack()
    },
  },
  'log away': {
    about: 'the server of the event log temporarily hangs or accepts no connections',
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
    about: 'the server of the read models temporarily hangs, or is killed and restarted',
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
