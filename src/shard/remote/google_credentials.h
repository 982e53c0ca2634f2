// Tokens for Google Cloud: GOOGLE_OAUTH_ACCESS_TOKEN, the application default credentials, the metadata server. Any thread.
#pragma once

#include <optional>
#include <string>

#include "shard/remote/renewed.h"

namespace headrace {

class RemoteSession;

/// Nothing in it: requests without a token, as GS_NO_SIGN_REQUEST asks for.
using MaybeToken = std::optional<std::string>;

/// Goes through the places once. kPermissionDenied when there is none, or when one that is set up gives none.
Result<Expiring<MaybeToken>> find_google_token(RemoteSession* session);

/// `text` signed with RSA and SHA-256 by a private key in PEM; kInvalidArgument when that is none.
Result<std::string> sign_rs256(const std::string& private_key, const std::string& text);
/// Base64 with - and _, without padding.
std::string base64_url(std::string_view bytes);

}  // namespace headrace
