import { resealVault } from '../../commands/secrets/reseal-vault.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { routine } from '../../projections/engine/routine.ts'
import type { Log } from '../../runtime/log.ts'
import type { Vault } from '../../stores/ports/vault.ts'

/** Milliseconds until a vault that was away is looked at again. */
const AGAIN = 5_000

export type ResealingTools = { readonly vault: Vault; readonly keys: MasterKeys; readonly log: Log }

/** Seals the vault with the new master key, once. Where it is away, later: until then both keys open what there is. */
export const resealing = routine<ResealingTools>({
  name: 'resealing',
  every: AGAIN,
  doing:
    ({ vault, keys, log }) =>
    async () => {
      if (keys.old !== undefined)
        log.info(await resealVault(vault, keys), 'the vault was sealed with the new master key')
      return 'done'
    },
})
