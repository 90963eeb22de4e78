import { remove } from '../../domain/diamond/decide.ts'
import type { By, DiamondChange } from './change-diamonds.ts'

export function deleteDiamond(id: number, { owner }: By, pointer?: string): DiamondChange {
  return { id, decide: (diamond) => remove(diamond, id, owner), ...(pointer !== undefined && { pointer }) }
}
