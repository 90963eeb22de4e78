import { createHash } from 'node:crypto'
import { MOST_RECIPIENTS } from '../../domain/secret/limits.ts'
import { linkName } from '../../domain/secret/secret.ts'

/**
 * The Message-ID of a mail, with its angle brackets: the same for each try, and it tells nothing of the secret.
 * @param id `{digest}/{name}`, as the vault has it
 * @param from as the mail's From has it, whose domain it ends with
 */
export function messageIdOf(id: string, from: string): string {
  const local = createHash('sha256').update(`mail/${id}`).digest('hex').slice(0, 32)
  const domain = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  return `<${local}@${domain}>`
}

/** Those of all mails that may carry a link of these secrets, made as they are asked for. */
export function* linkMessageIds(digests: Iterable<string>, from: string): Generator<string> {
  for (const digest of digests) {
    for (let number = 0; number < MOST_RECIPIENTS; number++) yield messageIdOf(`${digest}/${linkName(number)}`, from)
  }
}
