import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { END_LINE } from './end-line.ts'

export type Outcome = {
  readonly file: string
  readonly passed: number
  readonly failed: number
  readonly output: string
  readonly seconds: number
  /** CPU seconds of its process and of those it started; none is known of one that died. */
  readonly cpu: number
  /** How it ended, in words. */
  readonly end: string
}

export type Running = {
  /** What Node is started with to read the sources. */
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Seconds that one file may take. */
  readonly limit: number
}

const IN_TURN = fileURLToPath(new URL('in-turn.ts', import.meta.url))

/** Seconds that a process may take to end behind its last file: what it still has open must not keep it. */
const END_LIMIT = 30

const started = new Set<number>()

/** Ends all that is under way. */
export function endAll(): void {
  for (const pid of started) endGroup(pid)
}

/**
 * Runs files in one process, and those behind one by which it died in another.
 * @param report called with each file's outcome as it ends
 */
export async function runFiles(files: readonly string[], running: Running, report: (outcome: Outcome) => void) {
  let left = files
  while (left.length > 0) left = left.slice(await runInOne(left, running, report))
}

/**
 * A file that prints no summary, dies or does not end counts as one failure: silence is not success. One that says what
 * it left out, and why, does not.
 * @returns how many of the files it has come to
 */
function runInOne(files: readonly string[], { words, env, limit }: Running, report: (outcome: Outcome) => void) {
  return new Promise<number>((done) => {
    // A group of its own, so that a file that does not end is ended with the processes it started.
    const child = spawn(process.execPath, [...words, IN_TURN, ...files], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const pid = child.pid ?? 0
    started.add(pid)
    let at = 0
    let output = ''
    let begun = performance.now()
    let late = 0
    let timer = patience(limit)

    function patience(seconds: number) {
      return setTimeout(() => {
        late = seconds
        endGroup(pid)
      }, seconds * 1000)
    }

    function tell(file: string, code: number, end: string, cpu = 0) {
      report({ ...counted(output, code), file, output, seconds: (performance.now() - begun) / 1000, cpu, end })
      output = ''
      begun = performance.now()
    }

    function hear(chunk: Buffer) {
      output += chunk.toString()
      for (let found = END_LINE.exec(output); found !== null; found = END_LINE.exec(output)) {
        const rest = output.slice(found.index + found[0].length)
        output = output.slice(0, found.index)
        tell(found[1] ?? '', Number(found[2]), `exit code ${found[2]}`, Number(found[3]))
        output = rest
        at++
        clearTimeout(timer)
        timer = patience(at < files.length ? limit : END_LIMIT)
      }
    }

    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('exit', () => endGroup(pid))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      started.delete(pid)
      const end = late > 0 ? `stopped after ${late} s` : `exit code ${code ?? signal}`
      const current = files[at]
      if (current !== undefined) {
        tell(current, 1, end)
        at++
      } else if (late > 0) tell(files.join(', '), 1, `${end} behind the last test: something was left open`)
      done(at)
    })
  })
}

function counted(output: string, code: number): Pick<Outcome, 'passed' | 'failed'> {
  const total = sum(output, /^\s*Total:\s+(\d+)/gm)
  const passed = sum(output, /^\s*Passed:\s+(\d+)/gm)
  const leftOut = code === 0 && /^LEFT OUT: /m.test(output)
  const silent = total === 0 && !leftOut
  return { passed, failed: Math.max(total - passed, silent || code !== 0 ? 1 : 0) }
}

const sum = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].reduce((n, match) => n + Number(match[1]), 0)

/** Ends what is left of a process's group; a file that leaves some behind must not disturb the next. */
function endGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL')
  } catch {
    // There was none left.
  }
}
