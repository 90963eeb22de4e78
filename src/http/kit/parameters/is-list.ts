import { z } from 'zod'

/** Whether a parameter takes a list, whatever is done with it then. */
export function isList(parameter: z.core.$ZodType): boolean {
  const { def } = parameter._zod
  if (def.type === 'array') return true
  const within = 'innerType' in def ? def.innerType : 'in' in def ? def.in : undefined
  return within instanceof z.core.$ZodType && isList(within)
}
