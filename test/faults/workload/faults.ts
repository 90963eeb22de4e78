import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freeze, thaw } from '../../freeze.ts'
import { pace } from '../../pace.ts'
import type { Processes } from './processes.ts'
import type { SeededRandom } from '../../seeded.ts'
import type { RunEnvironment } from './environment.ts'

/** What a fault applies to. */
export type FaultTarget = {
  readonly processes: Processes
  readonly environment: RunEnvironment
  readonly random: SeededRandom
}

/** A temporary fault that occurs while clients work. */
export type Fault = {
  readonly description: string
  /** What must be set up before the first process starts. */
  readonly needs?: 'small disk' | 'mail server' | 'servers'
  /** A module that each process imports before the service. */
  readonly preload?: string
  /** Begins and ends the fault. */
  inject(target: FaultTarget): Promise<void>
}

const modulePath = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Duration of a fault in milliseconds: long enough to affect clients, short enough for many in a run. */
const DURATION_MS = [300, 1_500] as const
/** Milliseconds for which the disk is full: the log checks for free space only now and then. */
const FULL_DISK_MS = 1_500
/** Milliseconds by which a slow disk delays each wait for it. */
const DISK_DELAY_MS = [20, 120] as const

const lastForRandomTime = (random: SeededRandom) => pace(random.between(...DURATION_MS))
const randomProcess = ({ processes, random }: FaultTarget) => random.below(processes.count)

export const FAULTS = {
  'kill -9': {
    description: 'one process is killed with SIGKILL and restarted',
    inject: (target) => target.processes.replace(randomProcess(target)),
  },
  SIGSTOP: {
    description: 'one process is stopped for a while and then continues',
    async inject(target) {
      const { pid } = target.processes.at(randomProcess(target))
      await freeze(pid)
      await lastForRandomTime(target.random)
      thaw(pid)
    },
  },
  'clock jumps': {
    description: 'the system clock of one process is temporarily 30 days ahead',
    preload: modulePath('../set-clock.js'),
    async inject(target) {
      const { pid } = target.processes.at(randomProcess(target))
      process.kill(pid, 'SIGUSR2')
      await lastForRandomTime(target.random)
      process.kill(pid, 'SIGUSR2')
    },
  },
  'slow disk': {
    description: 'each commit and each fsync takes longer',
    preload: modulePath('slow-disk.js'),
    async inject({ environment, random }) {
      writeFileSync(environment.slowDisk, String(Math.round(random.between(...DISK_DELAY_MS))))
      await lastForRandomTime(random)
      rmSync(environment.slowDisk)
    },
  },
  'full disk': {
    description: 'the disk of the data folder is temporarily full',
    needs: 'small disk',
    async inject({ environment }) {
      environment.disk?.fill()
      await pace(FULL_DISK_MS)
      environment.disk?.free()
    },
  },
  'mail away': {
    description: 'the mail server is temporarily unavailable',
    needs: 'mail server',
    async inject({ environment, random }) {
      await environment.mailServer?.stop()
      await lastForRandomTime(random)
      await environment.mailServer?.restart()
    },
  },
  'log away': {
    description: 'the server of the event log temporarily hangs or accepts no connections',
    needs: 'servers',
    async inject({ environment, random }) {
      const { log } = environment.servers ?? {}
      const isFrozen = random.next() < 0.5
      await (isFrozen ? log?.freeze() : log?.down())
      await lastForRandomTime(random)
      await (isFrozen ? log?.thaw() : log?.up())
    },
  },
  'read models away': {
    description: 'the server of the read models temporarily hangs, or is killed and restarted',
    needs: 'servers',
    async inject({ environment, random }) {
      const { reads } = environment.servers ?? {}
      if (random.next() < 0.5) return reads?.replace(() => lastForRandomTime(random))
      await reads?.freeze()
      await lastForRandomTime(random)
      reads?.thaw()
    },
  },
} satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

export const faultOf = (name: FaultName): Fault => FAULTS[name]
