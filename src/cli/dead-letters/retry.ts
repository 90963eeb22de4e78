import { retryStreams, RETRIED_AT_ONCE } from '../../commands/installation/retry-streams.ts'
import type { Installation } from '../../wiring/installation.ts'
import { FollowedProgress } from '../../projections/engine/progress.ts'
import type { DeadLetter, ModelDeclaration } from '../../stores/ports/read-store.ts'
import { Failed } from '../failure.ts'
import { operator } from '../operator.ts'
import { progressBar } from '../progress-bar.ts'

/** What one of them has set aside. */
export type SetAside = { readonly model: ModelDeclaration; readonly letters: readonly DeadLetter[] }

export type Retried = {
  readonly freed: readonly { readonly model: string; readonly stream: string }[]
  /** Set aside again, with the reason for the first of each stream's events. */
  readonly left: readonly { readonly model: string; readonly stream: string; readonly reason: string }[]
}

/** Milliseconds that the service may take for one request. */
const PATIENCE = 60_000

/** @param stream only of this one */
export async function setAside({ reads }: Installation, model: ModelDeclaration, stream?: string): Promise<SetAside> {
  // Asking for the live build makes one where there is none, and only the projections' runner may do that.
  const isMade = (await (await reads.model(model)).position()) !== 'start'
  const letters = isMade ? await (await reads.live(model)).deadLetters() : []
  return { model, letters: letters.filter((letter) => stream === undefined || letter.stream === stream) }
}

/**
 * Asks the processes that keep these models to go through the streams again, and waits until they have.
 * @throws Failed where no process keeps a model, or takes too long: what was asked for is then done later
 */
export async function retried(installation: Installation, found: readonly SetAside[]): Promise<Retried> {
  for (const { model } of found) await mustBeKept(installation, model)
  const wanted = found.map(({ model, letters }) => ({ model, streams: streamsOf(letters) }))
  const total = wanted.reduce((sum, { streams }) => sum + streams.length, 0)
  const bar = progressBar('trying again', total, 'streams')
  let done = 0
  for (const { model, streams } of wanted) {
    for (let from = 0; from < streams.length; from += RETRIED_AT_ONCE) {
      const some = streams.slice(from, from + RETRIED_AT_ONCE)
      await retrySome(installation, model, some)
      bar.update((done += some.length))
    }
  }
  bar.end()
  return outcome(installation, wanted)
}

async function mustBeKept({ reads }: Installation, model: ModelDeclaration): Promise<void> {
  if (await reads.isHeld(model)) return
  throw new Failed(
    `No process keeps ${model.name}, and only that one may try again: start the service with the ` +
      'role projections (npx adamant serve), then try again',
  )
}

async function retrySome({ writing, reads }: Installation, model: ModelDeclaration, streams: string[]) {
  const position = await retryStreams(writing, { model: model.name, streams }, operator())
  if (await new FollowedProgress(await reads.model(model)).reached(position, PATIENCE)) return
  throw new Failed(
    `The service has not come to it within ${PATIENCE / 1000} s; it will when it gets there. ` +
      '`npx adamant status` tells how far it is',
  )
}

async function outcome(
  installation: Installation,
  wanted: readonly { readonly model: ModelDeclaration; readonly streams: readonly string[] }[],
): Promise<Retried> {
  const freed = []
  const left = []
  for (const { model, streams } of wanted) {
    const { name } = model
    const reasons = new Map((await setAside(installation, model)).letters.toReversed().map((l) => [l.stream, l.reason]))
    for (const stream of streams) {
      const reason = reasons.get(stream)
      if (reason === undefined) freed.push({ model: name, stream })
      else left.push({ model: name, stream, reason })
    }
  }
  return { freed, left }
}

const streamsOf = (letters: readonly DeadLetter[]) => [...new Set(letters.map(({ stream }) => stream))]
