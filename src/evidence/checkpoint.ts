import { hashText, readHash, type Hash } from './hashes.ts'

/** What a signed checkpoint says (c2sp.org/tlog-checkpoint). */
export type TreeHead = { readonly origin: string; readonly size: number; readonly root: Hash }

export const checkpointText = ({ origin, size, root }: TreeHead): string => `${origin}\n${size}\n${hashText(root)}\n`

/** Lines behind the third are extensions, for others. @throws Error for what is no checkpoint */
export function readCheckpoint(text: string): TreeHead {
  const [origin = '', size = '', hash = ''] = text.split('\n')
  const root = readHash(hash)
  const leaves = Number(size)
  if (origin === '' || !/^(?:0|[1-9]\d*)$/.test(size) || !Number.isSafeInteger(leaves) || root === undefined) {
    throw new Error('it is no checkpoint: origin, size and root, a line each')
  }
  return { origin, size: leaves, root }
}
