import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freeze, thaw } from '../../freeze.ts'
import { pace } from '../../pace.ts'
import type { Processes } from './processes.ts'
import type { Choices } from '../../seeded.ts'
import type { RunEnvironment } from './environment.ts'

/** What a fault applies to. */
export type FaultTarget = {
  readonly processes: Processes
  readonly environment: RunEnvironment
  readonly choices: Choices
}

/** A temporary fault that occurs while clients work. */
export type Fault = {
  readonly about: string
  /** What must be set up before the first process starts. */
  readonly needs?: 'small disk' | 'mail server' | 'servers'
  /** A module that each process imports before the service. */
  readonly preload?: string
  /** Begins and ends the fault. */
  inject(target: FaultTarget): Promise<void>
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Duration of a fault in milliseconds: long enough to affect clients, short enough for many in a run. */
const SHORT = [300, 1_500] as const
/** Milliseconds for which the disk is full: the log checks for free space only now and then. */
const FULL = 1_500
/** Milliseconds by which a slow disk delays each wait for it. */
const SLOW = [20, 120] as const

const last = (choices: Choices) => pace(choices.between(...SHORT))
const any = ({ processes, choices }: FaultTarget) => choices.below(processes.count)

export const FAULTS = {
  'kill -9': {
    about: 'one process is killed with SIGKILL and restarted',
    inject: (target) => target.processes.replace(any(target)),
  },
  SIGSTOP: {
    about: 'one process is stopped for a while and then continues',
    async inject(target) {
      const { pid } = target.processes.at(any(target))
      await freeze(pid)
      await last(target.choices)
      thaw(pid)
    },
  },
  'clock jumps': {
    about: 'the system clock of one process is temporarily 30 days ahead',
    preload: here('../set-clock.js'),
    async inject(target) {
      const { pid } = target.processes.at(any(target))
      process.kill(pid, 'SIGUSR2')
      await last(target.choices)
      process.kill(pid, 'SIGUSR2')
    },
  },
  'slow disk': {
    about: 'each commit and each fsync takes longer',
    preload: here('slow-disk.js'),
    async inject({ environment, choices }) {
      writeFileSync(environment.slowDisk, String(Math.round(choices.between(...SLOW))))
      await last(choices)
      rmSync(environment.slowDisk)
    },
  },
  'full disk': {
    about: 'the disk of the data folder is temporarily full',
    needs: 'small disk',
    async inject({ environment }) {
      environment.disk?.fill()
      await pace(FULL)
      environment.disk?.free()
    },
  },
  'mail away': {
    about: 'the mail server is temporarily unavailable',
    needs: 'mail server',
    async inject({ environment, choices }) {
      await environment.mailServer?.stop()
      await last(choices)
      await environment.mailServer?.restart()
    },
  },
  'log away': {
    about: 'the server of the event log temporarily hangs or accepts no connections',
    needs: 'servers',
    async inject({ environment, choices }) {
      const { log } = environment.servers ?? {}
      const isFrozen = choices.next() < 0.5
      await (isFrozen ? log?.freeze() : log?.down())
      await last(choices)
      await (isFrozen ? log?.thaw() : log?.up())
    },
  },
  'read models away': {
    about: 'the server of the read models temporarily hangs, or is killed and restarted',
    needs: 'servers',
    async inject({ environment, choices }) {
      const { reads } = environment.servers ?? {}
      if (choices.next() < 0.5) return reads?.replace(() => last(choices))
      await reads?.freeze()
      await last(choices)
      reads?.thaw()
    },
  },
} satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

export const faultOf = (name: FaultName): Fault => FAULTS[name]
