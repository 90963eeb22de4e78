import type { MasterKeys } from './master-keys.ts'
import { MasterSeal } from './sealing.ts'

/** What must be known to write a mail: its whole address, and the secret's key where it carries the link. */
export type Addressee = { readonly to: string; readonly secretKey?: string }

/** Seals what waits in the mail queue with the master key: a link is there until its mail is sent. */
export class MailSeal {
  readonly #seal: MasterSeal

  constructor(keys: MasterKeys) {
    this.#seal = new MasterSeal(keys, 'mail')
  }

  /** @param mail the mail's id: the seal opens for no other one */
  seal(addressee: Addressee, mail: string): Buffer {
    return this.#seal.seal(Buffer.from(JSON.stringify(addressee)), mail)
  }

  /** @throws SealedByAnotherKey */
  open(sealed: Buffer, mail: string): Addressee {
    return JSON.parse(this.#seal.open(sealed, mail).toString()) as Addressee
  }
}
