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

type SignedRootSources = Pick<Installation, 'store' | 'keys' | 'context'>

/**
 * Compares every signed checkpoint with the tree of the current log. This detects an altered event even if the tree was rebuilt
 * afterwards, since that does not change the roots that were signed before.
 * @param fresh the tree built from the log
 */
export async function checkSignedRoots(
  { store, keys, context }: SignedRootSources,
  fresh: FreshModel,
  differences: Differences,
): Promise<void> {
  const checkpoints = await openCheckpoints({ store, keys, context })
  const queries = new TreeQueries(fresh.model)
  const treePosition = await fresh.model.position()
  for await (const event of readEveryEvent(store, 'start', () => undefined, { prefixes: [CHECKPOINTS_STREAM] })) {
    if (event.stream !== CHECKPOINTS_STREAM || comparePositions(event.position, treePosition) > 0) continue
    const what = checkpoints
      ? await findRootFault(event, checkpoints, queries)
      : 'is signed with a key that is missing from the log or cannot be read'
    if (what !== undefined) differences.add({ where: `${event.stream}@${event.revision}`, what, do: RESTORE_REMEDY })
  }
}

/** Undefined if the log's key is missing or unreadable; a damaged event is reported elsewhere. */
async function openCheckpoints({ store, keys, context }: SignedRootSources): Promise<SignedCheckpoints | undefined> {
  try {
    // `openLogKey` creates a missing key.
    const [keyEvent] = await store.readStream(LOG_KEY_STREAM, { last: 1 })
    const key = keyEvent && (await openLogKey(context, keys))
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

/** What is wrong with a signed checkpoint; undefined if it matches the tree. */
async function findRootFault(
  event: StoredEvent,
  checkpoints: SignedCheckpoints,
  queries: TreeQueries,
): Promise<string | undefined> {
  try {
    const { size, root } = checkpoints.verifyNote(decode<CheckpointSigned>(event).data.checkpoint, event.revision)
    if (size > (await queries.size())) return `was signed at a size of ${size}, but the log has fewer events`
    if (root.equals(await queries.root(size))) return undefined
    return `was signed with another root: events among the first ${size} of the log were altered since`
  } catch (error) {
    if (isUnreadable(error)) return 'is not a valid checkpoint signed with the key of the log'
    throw error
  }
}
