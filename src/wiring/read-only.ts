import { LogClosed, type EventStore } from '../stores/ports/event-store.ts'
import type { Installation } from './installation.ts'

/** The same installation, whose log takes no append of this process; whatever else writes to it goes on. */
export function readOnly(installation: Installation): Installation {
  const store = withoutAppends(installation.store)
  return { ...installation, store, writing: { ...installation.writing, store } }
}

/** What the log says of itself comes first: it says more. */
function withoutAppends(store: EventStore): EventStore {
  const closed = async () => (await store.closed()) ?? ({ why: 'read-only' } as const)
  const refuse = async (): Promise<never> => {
    throw new LogClosed(await closed())
  }
  return { ...store, closed, append: refuse, appendMany: refuse }
}
