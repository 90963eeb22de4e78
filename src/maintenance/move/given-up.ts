import { openLog, type Moving } from '../../commands/installation/move-log.ts'
import type { Installation } from '../../wiring/installation.ts'
import { Failed } from '../operation.ts'

type Copying = {
  readonly copy: string
  readonly source: Installation
  readonly target: Installation
  readonly moving: Moving
}

/** @throws Failed where somebody has given the copy up since it began */
export async function mustNotBeGivenUp({ target }: Copying): Promise<void> {
  if (await isGivenUp(target)) throw givenUp()
}

/**
 * Does what is done behind the fence. Where the copy is given up meanwhile, the source takes writes again, and whatever
 * fails here fails because of that; a fence that went up in the same moment is taken away.
 * @throws Failed, and what the work throws
 */
export async function unlessGivenUp<Result>(copying: Copying, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(await isGivenUp(copying.target))) throw error
    await openLog(copying.moving, copying.source.store, copying.copy)
    throw givenUp()
  }
}

const isGivenUp = async ({ store }: Installation) => (await store.closed())?.why === 'abandoned'

const givenUp = () =>
  new Failed('This copy was given up while it ran: the source takes writes, and the target can be deleted')
