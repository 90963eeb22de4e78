import { patch } from '../../domain/diamond/decide.ts'
import type { Change } from '../../domain/diamond/fields.ts'
import type { ApiVersion } from '../../domain/diamond/readers.ts'
import type { By, DiamondChange } from './change-diamonds.ts'

/** @param version through which API the change came: v3 shows some cut shapes by another id than is stored */
export function patchDiamond(
  id: number,
  change: Change,
  version: ApiVersion,
  { owner }: By,
  pointer?: string,
): DiamondChange {
  return {
    id,
    decide: (diamond) => patch(diamond, id, owner, change, version),
    ...(pointer !== undefined && { pointer }),
  }
}
