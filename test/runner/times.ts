import type { Outcome } from './run-files.ts'

type Timed = Pick<Outcome, 'file' | 'seconds' | 'cpu'>

/** The elapsed and the CPU seconds of each file, longest first, and their sums. */
export function timesOf(outcomes: readonly Timed[]): string[] {
  const longest = outcomes.toSorted((one, other) => other.seconds - one.seconds)
  const sum = (of: (timed: Timed) => number) => outcomes.reduce((total, timed) => total + of(timed), 0)
  return [
    '  seconds   CPU s',
    ...longest.map(({ file, seconds, cpu }) => line(seconds, cpu, file)),
    line(
      sum(({ seconds }) => seconds),
      sum(({ cpu }) => cpu),
      'all of them',
    ),
  ]
}

const line = (seconds: number, cpu: number, name: string) =>
  `${seconds.toFixed(1).padStart(9)} ${cpu.toFixed(1).padStart(7)}  ${name}`
