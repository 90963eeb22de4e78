import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { FROM_SOURCE } from '../../from-source.ts'
import type { Ended } from '../command-line.ts'
import { ENDED, type Asked } from './end-mark.ts'

const PROGRAM = fileURLToPath(new URL('carry-out.ts', import.meta.url))

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * A process that carries out commands of the built program for one test file, one at a time: a start costs half a second
 * of a core, most of it for reading modules, and is not what most tests are about. The long forms start a process for
 * each command.
 */
export class Resident {
  #child: Child | undefined
  #busy = false

  /** Whether a command would have to wait for another: those that run side by side need processes of their own. */
  get busy(): boolean {
    return this.#busy
  }

  /** Carries out one command. @returns how it ended, or how the process ended by it */
  async run(asked: Asked): Promise<Ended> {
    this.#busy = true
    const child = (this.#child ??= this.#start())
    hold(child, true)
    try {
      return await new Promise<Ended>((done) => {
        const said = { out: '', err: '' }
        const hear = (what: 'out' | 'err') => (text: string) => {
          said[what] += text
          const [out, err] = [ENDED.exec(said.out), ENDED.exec(said.err)]
          if (out !== null && err !== null) end({ code: Number(out[2]), out: out[1] ?? '', err: err[1] ?? '' })
        }
        const [hearOut, hearErr] = [hear('out'), hear('err')]
        const died = (code: number | null) => {
          this.#child = undefined
          end({ code, ...said })
        }
        function end(ended: Ended): void {
          child.stdout.off('data', hearOut)
          child.stderr.off('data', hearErr)
          child.off('close', died)
          done(ended)
        }
        child.stdout.on('data', hearOut)
        child.stderr.on('data', hearErr)
        child.on('close', died)
        child.stdin.write(`${JSON.stringify(asked)}\n`)
      })
    } finally {
      hold(child, false)
      this.#busy = false
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

/** Whether the process keeps this one from ending. Its own stdin ends with this one, and it with that. */
function hold(child: Child, held: boolean): void {
  // Pipes to a process are sockets, which Node's types do not say.
  for (const handle of [child, ...([child.stdin, child.stdout, child.stderr] as unknown as Socket[])]) {
    if (held) handle.ref()
    else handle.unref()
  }
}
