# The shell in which code runs. What comes is JSON, which a shell does not read: the agent sends it as a file's content.
trap : INT
echo '{}' >&3
while IFS= read -r -d '' coinrack_code <&3; do
  exec 4>&3 3>&-
  eval "$coinrack_code" </dev/null 4>&-
  coinrack_status=$?
  exec 3>&4 4>&-
  printf '{"exitCode":%d}\n' "$coinrack_status" >&3
done
