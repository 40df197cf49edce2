"""The keyed hashes of erasure, and the guard that knows an erased receipt by them."""

from __future__ import annotations

# HMAC-SHA256 (RFC 2104) with a 64-byte key a tenant, of which only the two padded forms are kept.
_HASHES = """
    CREATE FUNCTION erasure_hash_of(tenant text, value text) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, public AS $$
        SELECT encode(sha256(k.outer_pad || sha256(k.inner_pad || convert_to(value, 'UTF8'))),
                      'hex')
        FROM public.erasure_keys AS k WHERE k.tenant_id = tenant
    $$
"""
_HASH = """
    CREATE FUNCTION erasure_hash(value text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
        SELECT public.erasure_hash_of(nullif(current_setting('app.tenant', true), ''), value)
    $$
"""
_KEY = """
    CREATE FUNCTION ensure_erasure_key() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    DECLARE
        tenant text := nullif(current_setting('app.tenant', true), '');
        secret bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
            || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
        inner_pad bytea := secret;
        outer_pad bytea := secret;
    BEGIN
        IF tenant IS NULL THEN RAISE EXCEPTION 'no tenant is set'; END IF;
        FOR i IN 0..63 LOOP
            inner_pad := set_byte(inner_pad, i, get_byte(secret, i) # 54);
            outer_pad := set_byte(outer_pad, i, get_byte(secret, i) # 92);
        END LOOP;
        INSERT INTO public.erasure_keys VALUES (tenant, inner_pad, outer_pad)
        ON CONFLICT DO NOTHING;
    END $$
"""
# Before: an erased receipt is no new one. After: one that was erased while this waited for it.
_GUARD = """
    CREATE FUNCTION refuse_erased_receipt() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    DECLARE
        named text := public.erasure_hash_of(NEW.tenant_id, concat_ws(chr(31), NEW.namespace,
            CASE TG_TABLE_NAME WHEN 'use_receipts' THEN 'use'
                 ELSE to_jsonb(NEW) ->> 'operation' END, NEW.receipt_id));
    BEGIN
        IF named IS NULL OR NOT EXISTS (
            SELECT FROM public.tombstones AS t
            WHERE t.tenant_id = NEW.tenant_id AND t.kind = 'receipt' AND t.hash = named) THEN
            RETURN NEW;
        END IF;
        IF TG_WHEN = 'BEFORE' THEN RETURN NULL; END IF;
        RAISE EXCEPTION 'the receipt was erased meanwhile' USING ERRCODE = '40001';
    END $$
"""
HASHING = (_HASHES, _HASH, _KEY, _GUARD)
