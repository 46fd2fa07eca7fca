/** An answer of the simulated API that is not a success. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What the real API says to a wrong, old or revoked credential. */
export function tokenInvalid(): ApiError {
  return new ApiError(401, "API token invalid");
}
