import { randomBytes } from 'node:crypto'
import * as domain from '../../domain/feed/feed.ts'
import { feedsFold, feedsStream, requireFeed, type Feed, type Feeds } from '../../domain/feed/feed.ts'
import type { CommandContext } from '../core/command-context.ts'
import { handle } from '../core/handle.ts'
import type { CommandPrincipal } from '../diamonds/diamonds.ts'

/** An account's feeds, oldest first. @throws StoreUnavailable */
export const feedsOf = async (
  { store, stateCache }: Pick<CommandContext, 'store' | 'stateCache'>,
  account: number,
): Promise<Feeds> => (await stateCache.load(store, feedsStream(account), feedsFold)).state

/** @throws RequestError invalid if the account has the maximum number; WrongRevision, OutcomeUnknown, StoreUnavailable */
export async function createFeed(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  feed: Pick<Feed, 'name' | 'format' | 'filters'>,
): Promise<Feed> {
  const id = `fd_${randomBytes(16).toString('base64url')}`
  const target = { stream: feedsStream(owner), origin }
  const { state } = await handle(context, target, feedsFold, (feeds, now) =>
    domain.createFeed(feeds, { id, ...feed }, now),
  )
  return requireFeed(state, id)
}

/** @throws RequestError missing; WrongRevision, OutcomeUnknown, StoreUnavailable */
export async function deleteFeed(context: CommandContext, principal: CommandPrincipal, id: string): Promise<void> {
  const target = { stream: feedsStream(principal.owner), origin: principal.origin }
  await handle(context, target, feedsFold, (feeds) => domain.deleteFeed(feeds, id))
}
