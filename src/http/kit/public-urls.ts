/** The base URLs of links in responses and mails, by API, without a trailing slash. */
export type PublicUrls = { readonly base: string; readonly auth: string; readonly secrets: string }

export type UrlServices = { readonly urls: PublicUrls }
