import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from './service.ts'

/** Whether a service has a file of these bytes. */
export async function isStored({ installation: { files } }: Service, bytes: Buffer): Promise<boolean> {
  const digest = createHash('sha256').update(bytes).digest('hex')
  for await (const listed of files.list()) if (listed.digest === digest) return true
  return false
}

/** Names of uploads in progress and of stored files, as the store keeps them. */
export async function filesOf({ dataDir, installation: { settings } }: Service): Promise<string[]> {
  return settings.READ_MODEL === 'sqlite' ? filesIn(join(dataDir, 'files')) : filesAt(settings.READ_MODEL)
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  )
}

async function filesAt(database: string): Promise<string[]> {
  const { MongoClient } = await import('mongodb')
  const client = new MongoClient(database)
  try {
    const [files, uploads] = [client.db().collection('fs.files'), client.db().collection('fs.uploads')]
    const stored = await files.distinct('filename', { filename: { $ne: '' } })
    const incoming = await uploads.find().toArray()
    return [...stored.map(String), ...incoming.map(({ _id }) => String(_id))]
  } finally {
    await client.close()
  }
}
