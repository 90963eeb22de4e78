import type { MasterKeys } from '../../credentials/master-keys.ts'
import { MasterSeal, SealedByAnotherKey } from '../../credentials/sealing.ts'
import type { Sealed, Vault } from '../../stores/ports/vault.ts'

const BATCH = 100

/**
 * After a rotation: what the former master key sealed is sealed with the new one, so that the former can be thrown away.
 * What neither opens stays as it is.
 * @returns how many were sealed again, and how many could not be
 */
export async function resealVault(vault: Vault, keys: MasterKeys): Promise<{ sealed: number; shut: number }> {
  const done = { sealed: 0, shut: 0 }
  const seals = { entry: new MasterSeal(keys, 'vault'), mail: new MasterSeal(keys, 'mail') }
  for (const kind of ['entry', 'mail'] as const) {
    let behind = ''
    for (;;) {
      const found = await vault.sealedOtherwise(kind, keys.current.id, behind, BATCH)
      for (const one of found) {
        const again = sealedAgain(seals[kind], one)
        if (again === undefined) done.shut++
        else {
          await vault.reseal(one, again)
          done.sealed++
        }
        behind = one.name
      }
      if (found.length < BATCH) break
    }
  }
  return done
}

function sealedAgain(seal: MasterSeal, { sealed, name }: Sealed): Buffer | undefined {
  try {
    return seal.seal(seal.open(sealed, name), name)
  } catch (error) {
    if (error instanceof SealedByAnotherKey) return undefined
    throw error
  }
}
