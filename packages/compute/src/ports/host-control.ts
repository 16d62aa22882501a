/** The port to the program of a remote host itself: which it is, its certificate, and where it finds the service. */
export interface HostControl {
  about(): Promise<HostAbout>
  /** Makes a new key on the host. @returns a request for a certificate of it (PKCS#10), in PEM */
  requestCertificate(): Promise<string>
  /** Keeps the certificate of the key that was requested last, in PEM, and uses both for every connection from then on. */
  installCertificate(certificate: string): Promise<void>
  /** Keeps the addresses of the service, each `host:port`, and connects to all of them. */
  setServices(addresses: string[]): Promise<void>
}

export interface HostAbout {
  /** The version of the program. */
  version: string
}
