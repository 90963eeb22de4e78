import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { END_LINE } from './end-line.ts'

export type Outcome = {
  readonly file: string
  readonly passed: number
  readonly failed: number
  readonly output: string
  readonly seconds: number
  /** CPU seconds of its process and the processes it started; 0 if the process died. */
  readonly cpu: number
  /** How it ended, for people. */
  readonly end: string
}

export type RunOptions = {
  /** Node arguments that load the sources. */
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** The time limit of a file, seconds. */
  readonly limit: number
}

const IN_TURN = fileURLToPath(new URL('in-turn.ts', import.meta.url))

/** Seconds that a process may take to exit after its last file: open handles must not keep it alive. */
const END_LIMIT = 30

const started = new Set<number>()

/** Kills all running test processes. */
export function killAll(): void {
  for (const pid of started) killGroup(pid)
}

/**
 * Runs files in one process. If it dies during a file, another process runs the remaining files.
 * @param report called with each file's outcome as it ends
 */
export async function runFiles(files: readonly string[], options: RunOptions, report: (outcome: Outcome) => void) {
  let remaining = files
  while (remaining.length > 0) remaining = remaining.slice(await runInOneProcess(remaining, options, report))
}

/**
 * A file that prints no summary, dies or does not end counts as one failure, unless it prints what it left out and why.
 * @returns how many of the files have run
 */
function runInOneProcess(
  files: readonly string[],
  { words, env, limit }: RunOptions,
  report: (outcome: Outcome) => void,
) {
  return new Promise<number>((done) => {
    // In a separate process group, so that a hanging file is killed with the processes it started.
    const child = spawn(process.execPath, [...words, IN_TURN, ...files], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const pid = child.pid ?? 0
    started.add(pid)
    let at = 0
    let output = ''
    let startedAt = performance.now()
    let timedOutAfter = 0
    let timer = startTimer(limit)

    function startTimer(seconds: number) {
      return setTimeout(() => {
        timedOutAfter = seconds
        killGroup(pid)
      }, seconds * 1000)
    }

    function reportFile(file: string, code: number, end: string, cpu = 0) {
      report({ ...counted(output, code), file, output, seconds: (performance.now() - startedAt) / 1000, cpu, end })
      output = ''
      startedAt = performance.now()
    }

    function onOutput(chunk: Buffer) {
      output += chunk.toString()
      for (let found = END_LINE.exec(output); found !== null; found = END_LINE.exec(output)) {
        const rest = output.slice(found.index + found[0].length)
        output = output.slice(0, found.index)
        reportFile(found[1] ?? '', Number(found[2]), `exit code ${found[2]}`, Number(found[3]))
        output = rest
        at++
        clearTimeout(timer)
        timer = startTimer(at < files.length ? limit : END_LIMIT)
      }
    }

    child.stdout.on('data', onOutput)
    child.stderr.on('data', onOutput)
    child.on('exit', () => killGroup(pid))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      started.delete(pid)
      const end = timedOutAfter > 0 ? `stopped after ${timedOutAfter} s` : `exit code ${code ?? signal}`
      const current = files[at]
      if (current !== undefined) {
        reportFile(current, 1, end)
        at++
      } else if (timedOutAfter > 0)
        reportFile(files.join(', '), 1, `${end} after the last test: a handle was left open`)
      done(at)
    })
  })
}

function counted(output: string, code: number): Pick<Outcome, 'passed' | 'failed'> {
  const total = sum(output, /^\s*Total:\s+(\d+)/gm)
  const passed = sum(output, /^\s*Passed:\s+(\d+)/gm)
  const isLeftOut = code === 0 && /^LEFT OUT: /m.test(output)
  const silent = total === 0 && !isLeftOut
  return { passed, failed: Math.max(total - passed, silent || code !== 0 ? 1 : 0) }
}

const sum = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].reduce((n, match) => n + Number(match[1]), 0)

/** Kills the rest of a process group: processes that a file leaves behind must not disturb the next. */
function killGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has no process left.
  }
}
