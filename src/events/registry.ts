import { accountEvents, apiTokenUseEvents } from '../domain/account/account.ts'
import { loginEvents } from '../domain/account/login.ts'
import { bulkRequestEvents } from '../domain/bulk/bulk.ts'
import { certificationEvents } from '../domain/certification/certification.ts'
import { clientEvents } from '../domain/client/client.ts'
import { diamondEvents } from '../domain/diamond/diamond.ts'
import { scoresEvents } from '../domain/diamond/scores.ts'
import { stoneModelEvents } from '../domain/diamond/stone-model.ts'
import { payloadVersionOf, type EventDeclaration } from '../domain/event.ts'
import { feedEvents } from '../domain/feed/feed.ts'
import { stockImportEvents } from '../domain/imports/stock-import.ts'
import { idEvents, restoreEvents, retryEvents, storesEvents } from '../domain/installation/installation.ts'
import { keyEvents } from '../domain/installation/keys.ts'
import { logLifecycleEvents } from '../domain/installation/log-lifecycle.ts'
import { secretEvents } from '../domain/secret/secret.ts'
import { sessionEvents } from '../domain/session/session.ts'
import { webhookEvents } from '../domain/webhook/webhook.ts'

const declarations = {
  ...diamondEvents,
  ...certificationEvents,
  ...stoneModelEvents,
  ...scoresEvents,
  ...loginEvents,
  ...accountEvents,
  ...apiTokenUseEvents,
  ...clientEvents,
  ...sessionEvents,
  ...secretEvents,
  ...webhookEvents,
  ...stockImportEvents,
  ...feedEvents,
  ...bulkRequestEvents,
  ...storesEvents,
  ...keyEvents,
  ...idEvents,
  ...retryEvents,
  ...restoreEvents,
  ...logLifecycleEvents,
}

export type EventType = keyof typeof declarations

/**
 * All event types by stored name, in the order of docs/events.md and `events --schema`. It has no prototype, so names
 * such as `constructor` are not found.
 */
export const EVENTS: Readonly<Record<string, EventDeclaration>> = Object.assign(Object.create(null), declarations)

/** Returns false for types of newer releases and of other applications on the same server. */
export const isKnownEventType = (type: string): type is EventType => EVENTS[type] !== undefined

/**
 * The payload version that this release writes.
 * @throws Error for an undeclared type, because the event could not be read again
 */
export function currentPayloadVersion(type: string): number {
  const declaration = EVENTS[type]
  if (declaration === undefined) throw new Error(`${type} is not declared in src/domain, so it must not be appended`)
  return payloadVersionOf(declaration)
}

/** The parts of stream names before the first dash. */
export const STREAM_CATEGORIES: readonly string[] = [
  ...new Set(Object.values(declarations).map(({ stream }) => categoryOf(stream))),
]

export function categoryOf(stream: string): string {
  return stream.split('-', 1)[0] ?? stream
}
