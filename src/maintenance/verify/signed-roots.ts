import { WrongMasterKey } from '../../commands/installation/link-key.ts'
import { openLogKey } from '../../commands/evidence/signed-checkpoints.ts'
import { CHECKPOINTS_STREAM, LOG_KEY_STREAM, type CheckpointSigned } from '../../domain/installation/keys.ts'
import { InvalidEventPayload, decode, UnsupportedEventVersion } from '../../events/decode.ts'
import { SignedCheckpoints } from '../../projections/tree/signed-checkpoints.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import { comparePositions, CorruptEvent, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Installation } from '../../wiring/installation.ts'
import { readEveryEvent } from '../../events/read-every-event.ts'
import { RESTORE_REMEDY, type Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'

type SignedRootSources = Pick<Installation, 'store' | 'keys' | 'writing'>

/**
 * Holds every root that was ever signed to the tree that the log makes now: who rewrote an event and made the tree anew
 * afterwards could not sign what others may hold.
 * @param fresh the tree, made of the log anew
 */
export async function checkSignedRoots(
  { store, keys, writing }: SignedRootSources,
  fresh: FreshModel,
  found: Differences,
): Promise<void> {
  const checkpoints = await openCheckpoints({ store, keys, writing })
  const queries = new TreeQueries(fresh.model)
  const to = await fresh.model.position()
  for await (const event of readEveryEvent(store, 'start', () => undefined, { prefixes: [CHECKPOINTS_STREAM] })) {
    if (event.stream !== CHECKPOINTS_STREAM || comparePositions(event.position, to) > 0) continue
    const what = checkpoints
      ? await findRootFault(event, checkpoints, queries)
      : 'is signed by a key that the log does not have, or that can not be read'
    if (what !== undefined) found.add({ where: `${event.stream}@${event.revision}`, what, do: RESTORE_REMEDY })
  }
}

/** Undefined where the log's key is not there, or can't be read: what is wrong with its event is told with all others. */
async function openCheckpoints({ store, keys, writing }: SignedRootSources): Promise<SignedCheckpoints | undefined> {
  try {
    // Who asks for a key that is not there makes one.
    const [kept] = await store.read(LOG_KEY_STREAM, { last: 1 })
    const key = kept && (await openLogKey(writing, keys))
    return key && new SignedCheckpoints(store, key)
  } catch (error) {
    if (isUnreadable(error)) return undefined
    throw error
  }
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof InvalidEventPayload ||
  error instanceof UnsupportedEventVersion ||
  error instanceof CorruptEvent ||
  error instanceof WrongMasterKey

/** What is wrong with what one event says was signed. */
async function findRootFault(
  event: StoredEvent,
  checkpoints: SignedCheckpoints,
  queries: TreeQueries,
): Promise<string | undefined> {
  try {
    const { size, root } = checkpoints.verifyNote(decode<CheckpointSigned>(event).data.checkpoint, event.revision)
    if (size > (await queries.size())) return `says that the log had ${size} events, and it has fewer`
    if (root.equals(await queries.root(size))) return undefined
    return `was signed over other events: some of the first ${size} of the log were changed, and its tree made anew`
  } catch (error) {
    if (isUnreadable(error)) return 'is not what the key of the log has signed'
    throw error
  }
}
