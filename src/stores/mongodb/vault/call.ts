import type { Mongo } from '../connection.ts'
import { indexedCalls, type CallOn } from '../indexed-calls.ts'
import { vaultIndexes, vaultCollections, type VaultCollections } from './collections.ts'

export type VaultCall = CallOn<VaultCollections>

export function vaultCalls(mongo: Mongo): VaultCall {
  const collections = vaultCollections(mongo)
  return indexedCalls(mongo, collections, vaultIndexes(collections))
}
