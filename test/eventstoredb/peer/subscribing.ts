import { pace } from '../../pace.ts'
import { randomUUID } from 'node:crypto'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Faults } from './faults.ts'
import type { Log, RecordedEvent } from './log.ts'
import { drained, type ReadCall } from './reading.ts'
import { caughtUpMessage, checkpointMessage, confirmationMessage, eventMessage } from './wire.ts'

/** Where to start in the log; a subscription excludes the event at its position. */
export type Start = 'end' | { readonly index: number; readonly inclusive: boolean }

/** Events scanned between two checkpoints, multiplied by the client's interval. */
const WINDOW = 32

/** Sends a confirmation, past events, caughtUp, then new events; and checkpoints for events that the filter excludes. */
export function subscribeToAll(
  call: ReadCall,
  log: Log,
  faults: Faults,
  start: Start,
  filter: ReadReq.Options.FilterOptions | undefined,
): void {
  faults.subscriptions++
  call.write(confirmationMessage(randomUUID()))
  const index = start === 'end' ? log.all.length : start.index + (start.inclusive ? 0 : 1)
  void new Subscriber(call, log, faults, filter).run(index)
}

class Subscriber {
  readonly #matches: (event: RecordedEvent) => boolean
  readonly #interval: number
  readonly #begunAfter: number
  #live = false
  #scanned = 0
  #sent = 0

  constructor(
    private readonly call: ReadCall,
    private readonly log: Log,
    private readonly faults: Faults,
    filter: ReadReq.Options.FilterOptions | undefined,
  ) {
    this.#matches = matcherOf(filter)
    this.#begunAfter = faults.silenceCount
    const window = filter?.hasMax() === true ? filter.getMax() : WINDOW
    this.#interval = filter === undefined ? Infinity : window * filter.getCheckpointintervalmultiplier()
  }

  async run(index: number): Promise<void> {
    let next = index
    while (!this.call.cancelled) {
      const event = this.log.all[next]
      if (this.#isSilent) await pace(5)
      else if (event === undefined) await this.#atHead(next)
      else {
        await this.#sendIfMatching(event)
        next++
      }
    }
    this.call.end()
  }

  get #isSilent(): boolean {
    const { silent, silentSubscriptions, silenceCount } = this.faults
    return silent || silentSubscriptions || silenceCount > this.#begunAfter
  }

  async #atHead(next: number): Promise<void> {
    if (!this.#live && this.faults.sendsCaughtUp) await this.#write(caughtUpMessage())
    this.#live = true
    if (this.log.all.length > next) return
    await new Promise<void>((done) => {
      const wake = () => {
        this.log.off('appended', wake)
        this.call.off('cancelled', wake)
        done()
      }
      this.log.on('appended', wake)
      this.call.on('cancelled', wake)
    })
  }

  async #sendIfMatching(event: RecordedEvent): Promise<void> {
    if (this.#matches(event)) {
      if (this.faults.messageIntervalMs > 0) await pace(this.faults.messageIntervalMs)
      await this.#write(eventMessage(event))
      const { duplicateEvery } = this.faults
      if (duplicateEvery > 0 && ++this.#sent % duplicateEvery === 0) await this.#write(eventMessage(event))
    }
    if (++this.#scanned < this.#interval) return
    this.#scanned = 0
    await this.#write(checkpointMessage(event.position, this.#live))
  }

  async #write(message: ReadResp): Promise<void> {
    if (!this.call.cancelled && !this.call.write(message)) await drained(this.call)
  }
}

function matcherOf(filter: ReadReq.Options.FilterOptions | undefined): (event: RecordedEvent) => boolean {
  const expression = filter?.getStreamIdentifier() ?? filter?.getEventType()
  if (filter === undefined || expression === undefined) return () => true
  const subject = filter.hasStreamIdentifier()
    ? ({ stream }: RecordedEvent) => stream
    : ({ type }: RecordedEvent) => type
  const prefixes = expression.getPrefixList()
  if (prefixes.length > 0) return (event) => prefixes.some((prefix) => subject(event).startsWith(prefix))
  const regex = new RegExp(expression.getRegex())
  return (event) => regex.test(subject(event))
}
