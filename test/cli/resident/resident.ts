import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { FROM_SOURCE } from '../../from-source.ts'
import type { CommandResult } from '../command-line.ts'
import { MARKED_OUTPUT, type CommandRequest } from './end-mark.ts'

const PROGRAM = fileURLToPath(new URL('carry-out.ts', import.meta.url))

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * A process that runs commands of the built program for one test file, one at a time: starting a process takes half a
 * second of a core, most of it for loading modules. The long forms start a process for each command.
 */
export class Resident {
  #child: Child | undefined
  #isBusy = false

  /** A command is running: concurrent commands need separate processes. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Runs one command. @returns its result, or that of the process if the command ended it */
  async run(command: CommandRequest): Promise<CommandResult> {
    this.#isBusy = true
    const child = (this.#child ??= this.#start())
    setReferenced(child, true)
    try {
      return await new Promise<CommandResult>((done) => {
        const output = { out: '', err: '' }
        const receive = (stream: 'out' | 'err') => (text: string) => {
          output[stream] += text
          const [out, err] = [MARKED_OUTPUT.exec(output.out), MARKED_OUTPUT.exec(output.err)]
          if (out !== null && err !== null) end({ code: Number(out[2]), out: out[1] ?? '', err: err[1] ?? '' })
        }
        const [onStdout, onStderr] = [receive('out'), receive('err')]
        const onClose = (code: number | null) => {
          this.#child = undefined
          end({ code, ...output })
        }
        function end(ended: CommandResult): void {
          child.stdout.off('data', onStdout)
          child.stderr.off('data', onStderr)
          child.off('close', onClose)
          done(ended)
        }
        child.stdout.on('data', onStdout)
        child.stderr.on('data', onStderr)
        child.on('close', onClose)
        child.stdin.write(`${JSON.stringify(command)}\n`)
      })
    } finally {
      setReferenced(child, false)
      this.#isBusy = false
    }
  }

  #start(): Child {
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
    const env = { PATH, HOME, NODE_COMPILE_CACHE }
    const child = spawn(process.execPath, [...FROM_SOURCE, PROGRAM], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8')
    return child
  }
}

/** An unreferenced child does not keep this process alive; the child ends when its stdin is closed. */
function setReferenced(child: Child, isReferenced: boolean): void {
  // Pipes to a process are sockets; Node's types do not say so.
  for (const handle of [child, ...([child.stdin, child.stdout, child.stderr] as unknown as Socket[])]) {
    if (isReferenced) handle.ref()
    else handle.unref()
  }
}
