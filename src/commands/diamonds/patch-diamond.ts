import { patch } from '../../domain/diamond/decide.ts'
import type { Change } from '../../domain/diamond/fields.ts'
import type { By, DiamondChange } from './change-diamonds.ts'

export function patchDiamond(id: number, change: Change, { owner }: By, pointer?: string): DiamondChange {
  return {
    id,
    decide: (diamond) => patch(diamond, id, owner, change),
    ...(pointer !== undefined && { pointer }),
  }
}
