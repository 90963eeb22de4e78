import type { Log } from '../../runtime/log.ts'
import { comparePositions, type EventStore, type Position, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, DeadLetter } from '../../stores/ports/read-store.ts'
import { letter } from './dead-letter.ts'
import type { Reaction } from './reaction.ts'
import { retriedStreams } from './retried-streams.ts'

export type Reacting = {
  readonly reaction: Reaction
  readonly store: Pick<EventStore, 'read'>
  readonly build: Pick<Build, 'release'>
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * Lets a reaction go through a batch; where an operator wants streams to be tried again, through all of their events.
 * @param retries the stream of such requests
 * @returns what was set aside
 * @throws what the reaction rejects with: then nothing of the batch counts as done
 */
export async function reactTo(
  reacting: Reacting,
  events: readonly StoredEvent[],
  retries: string,
): Promise<DeadLetter[]> {
  let letters: DeadLetter[] = []
  let from = 0
  for (const [index, event] of events.entries()) {
    if (event.stream !== retries) continue
    letters.push(...(await react(reacting, events.slice(from, index))))
    const streams = retriedStreams(event, reacting.reaction.prefixes, reacting.log)
    const left = await again(reacting, streams, event.position)
    letters = [...letters.filter(({ stream }) => !streams.includes(stream)), ...left]
    from = index + 1
  }
  return [...letters, ...(await react(reacting, from === 0 ? events : events.slice(from)))]
}

async function react({ reaction, log, signal }: Reacting, events: readonly StoredEvent[]): Promise<DeadLetter[]> {
  if (events.length === 0) return []
  const aside = (await reaction.react(events, signal)) ?? []
  return aside.map(({ event, error }) => {
    const { id, stream } = event
    log.warn({ err: error, name: reaction.name, stream, event: id }, 'an event could not be acted on: it is set aside')
    return letter(event, error)
  })
}

/** The letters go first: when this process ends before it is done, the request comes again. */
async function again(reacting: Reacting, streams: readonly string[], until: Position): Promise<DeadLetter[]> {
  const { store, build } = reacting
  const letters: DeadLetter[] = []
  for (const stream of streams) {
    await build.release(stream)
    const events = (await store.read(stream)).filter(({ position }) => comparePositions(position, until) <= 0)
    letters.push(...(await react(reacting, events)))
  }
  return letters
}
