import { routine } from '../../projections/engine/loop.ts'
import type { CheckpointSigner } from '../../projections/tree/checkpoints.ts'
import { BrokenEvent } from '../../events/decode.ts'
import { endsWithin } from '../../runtime/deadline.ts'
import type { Log } from '../../runtime/log.ts'
import { LogClosed } from '../../stores/ports/event-store.ts'

/** Milliseconds between two checkpoints where anything happens: nobody waits longer for a proof of something. */
const EVERY = 60_000
/** Milliseconds that a round waits for the tree to come to the head. */
const PATIENCE = 10_000
/** Milliseconds that a stop waits for the last checkpoint. */
const LAST = 2_000

/** What the signing of checkpoints works with. */
export type SigningTools = {
  /** Undefined where the log has no key, and takes none any more. */
  readonly signer: Pick<CheckpointSigner, 'sign' | 'signLast'> | undefined
  readonly log: Log
}

/** Signs the root of the log's tree every minute in which anything happened, and when the service stops. */
export const checkpointSigning = routine<SigningTools>({
  name: 'checkpoint-signing',
  every: EVERY,
  doing(tools) {
    // What was before a start was signed when the service stopped, or will be with the first minute.
    let isFirst = true
    return async () => {
      if (isFirst) isFirst = false
      else await signed(tools, (signer) => signer.sign(PATIENCE))
    }
  },
  async last(tools) {
    const last = signed(tools, (signer) => signer.signLast(LAST))
    last.catch((error: unknown) => tools.log.warn({ err: error }, 'no checkpoint was signed when the service stopped'))
    await endsWithin(last, LAST)
  },
})

/** What was rewritten is told each time: it is for an operator, and trying again mends nothing. */
async function signed(
  { signer, log }: SigningTools,
  sign: (signer: NonNullable<SigningTools['signer']>) => Promise<unknown>,
): Promise<void> {
  try {
    if (signer !== undefined) await sign(signer)
  } catch (error) {
    if (error instanceof LogClosed) return
    if (!(error instanceof BrokenEvent)) throw error
    log.error({ err: error }, 'no checkpoint is signed: the log is not what was signed of it; run adamant verify')
  }
}
