import { StoneModels } from '../scoring/stone-models.ts'
import type { TracePool } from '../scoring/trace-pool.ts'
import type { Files } from '../stores/ports/files.ts'

/** Stones' own bodies, from where an installation keeps its files. */
export const stoneModelsFrom = (pool: TracePool, files: Files): StoneModels =>
  new StoneModels(pool, async (digest) => {
    const stream = await files.read(digest)
    if (stream === undefined) return undefined
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    return new Uint8Array(Buffer.concat(chunks))
  })
